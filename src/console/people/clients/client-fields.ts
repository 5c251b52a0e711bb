/** Fields that the console shows for an OAuth client, and the request bodies made from these fields. Pure. */
import type { components } from '../../api/openapi.d.ts';

export type Client = components['schemas']['Client'];
type Written = components['schemas']['ClientWritten'];

export const SCOPES = ['datahub-api', 'push-data'] as const;
export const GRANT_TYPES = [
  'password',
  'refresh_token',
  'authorization_code',
  'urn:ietf:params:oauth:grant-type:token-exchange',
] as const;

export interface ClientFields {
  readonly clientId: string;
  readonly name: string;
  readonly isPublic: boolean;
  readonly scopes: readonly string[];
  readonly grantTypes: readonly string[];
  /** One URL per line. */
  readonly redirectUris: string;
  readonly logoutUris: string;
}

export const NEW_CLIENT: ClientFields = {
  clientId: '',
  name: '',
  isPublic: false,
  scopes: SCOPES,
  grantTypes: ['password', 'refresh_token'],
  redirectUris: '',
  logoutUris: '',
};

/** @returns the values of the form's fields for a stored client. */
export function toFields({
  clientId,
  name,
  isPublic,
  scopes,
  grantTypes,
  redirectUris,
  logoutUris,
}: Client): ClientFields {
  const lines = { redirectUris: redirectUris.join('\n'), logoutUris: logoutUris.join('\n') };
  return { clientId, name: name ?? '', isPublic, scopes, grantTypes, ...lines };
}

/** @returns the body that changes a client; the body that creates a client also has `clientId` and `isPublic`. */
export function toChange({ name, scopes, grantTypes, redirectUris, logoutUris }: ClientFields) {
  const known = <Name extends string>(all: readonly Name[], chosen: readonly string[]) =>
    all.filter((value) => chosen.includes(value));
  return {
    name: name.trim() || null,
    scopes: known(SCOPES, scopes),
    grantTypes: known(GRANT_TYPES, grantTypes),
    redirectUris: linesOf(redirectUris),
    logoutUris: linesOf(logoutUris),
  };
}

/** @returns the body that creates a client. */
export function toNewClient(fields: ClientFields): Written {
  return { clientId: fields.clientId.trim(), isPublic: fields.isPublic, ...toChange(fields) };
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
