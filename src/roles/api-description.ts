/** What the API says of itself (R-A9): the descriptions of every room, and where this installation is. */
import { ACCOUNT_OPERATIONS } from '../accounts/account/account-docs.ts';
import { INVITATION_OPERATIONS } from '../accounts/invitations/invitation-docs.ts';
import { LISTING_OPERATIONS } from '../accounts/listing/listing-docs.ts';
import { USER_OPERATIONS } from '../accounts/users/user-docs.ts';
import { CALCULATION_OPERATIONS } from '../calculation/calculation-docs.ts';
import { DECLARATION_SCHEMA } from '../calculation/declaration/declaration.ts';
import type { Config } from '../config.ts';
import { FILE_OPERATIONS } from '../files/file-docs.ts';
import type { Description } from '../http/openapi/build-document.ts';
import { SERVICE_OPERATIONS } from '../http/openapi/service-docs.ts';
import { issuerOperations } from '../identity/issuer/issuer-docs.ts';
import { issuerUrl } from '../identity/issuer/issuer-url.ts';
import { HEALTH_OPERATIONS } from '../platform/http/health-docs.ts';
import type { Operation } from '../platform/openapi/operation.ts';
import { MAPPER_OPERATIONS } from '../push/mapper/mapper-docs.ts';
import { PUSH_OPERATIONS } from '../push/push-docs.ts';
import { READING_OPERATIONS } from '../reading/reading-docs.ts';
import { CATALOGUE_OPERATIONS } from '../structure/catalogue/catalogue-docs.ts';
import { structureOperations } from '../structure/structure-docs.ts';
import { VERSION_OPERATIONS } from '../structure/versions/version-docs.ts';
import { SENT_EVENTS, WEBHOOK_OPERATIONS } from '../webhooks/administration/webhook-docs.ts';
import { HISTORY_OPERATIONS } from '../webhooks/history/history-docs.ts';
import { TRIAL_OPERATIONS } from '../webhooks/trial-sends/trial-docs.ts';
import { apiUrl } from './account-services.ts';

/** In the order they are shown. */
const TAGS = {
  Tokens: 'Where a program begins. Tokens are OAuth 2.0; client ids and secrets are given by the operator.',
  Push: 'Readings in. What is answered with 200 is never lost.',
  Mappers: 'Formats of one’s own, turned into push elements by JSONata.',
  Files: 'Standard Files: CSV and workbooks.',
  Points: 'Points out: as they are, as they were known, by label, in buckets, compared.',
  Versions: 'Which versions a variable has.',
  Calculations: 'Variables calculated by R scripts: their runs, and tools for authors.',
  Sites: 'Where measurements are made.',
  Sources: 'Meters, sensors and other origins of variables.',
  Variables: 'One series each.',
  Catalogues: 'Units, types and enumerations.',
  Account: 'The account of the token, and the current user.',
  Users: 'Users of the account.',
  Claims: 'What users were granted by name, such as pushing.',
  Views: 'Saved filters of users.',
  Invitations: 'How people join.',
  Webhooks: 'Who is told of what happens.',
  Service: 'Whether it works, and what it can do.',
} as const;

/** Of every route; made anew at each call, and only when somebody asks. */
export function describeApi(config: Config): Description {
  const api = apiUrl(config);
  const issuer = ownIssuer(config);
  return {
    operations: listOperations(config),
    events: SENT_EVENTS,
    eventTag: 'Webhooks',
    tags: TAGS,
    addresses: {
      api,
      push: (config.PUSH_URL ?? api).replace(/\/+$/, ''),
      issuer: {
        authorizationUrl: `${issuer}/protocol/openid-connect/auth`,
        tokenUrl: `${issuer}/protocol/openid-connect/token`,
      },
    },
  };
}

/** Keycloak's addresses are formed alike. */
function ownIssuer(config: Config): string {
  if (config.USER_DIRECTORY !== 'keycloak' || config.KEYCLOAK_URL === undefined) return issuerUrl(config);
  return `${config.KEYCLOAK_URL.replace(/\/+$/, '')}/realms/${config.KEYCLOAK_REALM}`;
}

function listOperations({ USER_DIRECTORY, REALM }: Config): readonly Operation[] {
  return [
    ...(USER_DIRECTORY === 'embedded' ? issuerOperations(REALM) : []),
    ...PUSH_OPERATIONS,
    ...MAPPER_OPERATIONS,
    ...FILE_OPERATIONS,
    ...READING_OPERATIONS,
    ...VERSION_OPERATIONS,
    ...CALCULATION_OPERATIONS,
    ...structureOperations(DECLARATION_SCHEMA),
    ...CATALOGUE_OPERATIONS,
    ...ACCOUNT_OPERATIONS,
    ...LISTING_OPERATIONS,
    ...USER_OPERATIONS,
    ...INVITATION_OPERATIONS,
    ...WEBHOOK_OPERATIONS,
    ...HISTORY_OPERATIONS,
    ...TRIAL_OPERATIONS,
    ...HEALTH_OPERATIONS,
    ...SERVICE_OPERATIONS,
  ];
}
