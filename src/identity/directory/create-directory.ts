/** The user directory that USER_DIRECTORY configures (R-B2). */
import type { Config } from '../../config.ts';
import { issuerUrl } from '../issuer/issuer-url.ts';
import { createKeycloakAdmin } from '../keycloak/admin-client.ts';
import { createKeycloakDirectory } from '../keycloak/keycloak-directory.ts';
import { createEmbeddedDirectory } from './embedded-directory.ts';
import type { UserDirectory } from './user-directory.ts';

/** @returns the user directory that the settings choose. A user directory administers passwords and sessions (R-B2). */
export function createDirectory(config: Config): UserDirectory {
  const { USER_DIRECTORY, KEYCLOAK_URL = '', KEYCLOAK_REALM: realm, KEYCLOAK_CLIENT_SECRET = '' } = config;
  switch (USER_DIRECTORY) {
    case 'embedded':
      return createEmbeddedDirectory(issuerUrl(config));
    case 'keycloak':
      return createKeycloakDirectory({
        admin: createKeycloakAdmin({
          url: KEYCLOAK_URL,
          realm,
          clientId: config.KEYCLOAK_CLIENT_ID,
          clientSecret: KEYCLOAK_CLIENT_SECRET,
        }),
        issuer: `${KEYCLOAK_URL.replace(/\/+$/, '')}/realms/${realm}`,
        accountClientId: config.KEYCLOAK_ACCOUNT_CLIENT_ID,
      });
  }
}
