/** A client whose users sign in with a browser: it uses the authorization code flow with PKCE. */
import { createHash, randomBytes } from 'node:crypto';
import type { Database } from '../../../src/platform/database/database.ts';

export const APP_ORIGIN = 'https://app.example';
export const APP_CALLBACK = `${APP_ORIGIN}/callback`;
export const APP_CLIENT = 'app';

/** Registers a public client with every scope. */
export async function registerApp(database: Database): Promise<void> {
  await database.query(
    `insert into oidc_client (client_id, name, allowed_scopes, grant_types, redirect_uris, post_logout_redirect_uris)
     values ($1, 'The App', $2, $3, $4, $5)`,
    [
      APP_CLIENT,
      ['datahub-api', 'push-data'],
      ['authorization_code', 'refresh_token'],
      [APP_CALLBACK],
      [`${APP_ORIGIN}/bye`],
    ],
  );
}

export interface Authorization {
  /** URL that the browser opens. */
  readonly address: string;
  readonly verifier: string;
}

export function startAuthorization(origin: string, parameters: Readonly<Record<string, string>> = {}): Authorization {
  const verifier = randomBytes(32).toString('base64url');
  const address = new URL(`${origin}/realms/tidemark/protocol/openid-connect/auth`);
  const all = {
    client_id: APP_CLIENT,
    response_type: 'code',
    scope: 'openid datahub-api push-data',
    redirect_uri: APP_CALLBACK,
    state: 'state-1',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...parameters,
  };
  for (const [name, value] of Object.entries(all)) address.searchParams.set(name, value);
  return { address: address.href, verifier };
}

export interface CodeAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, string | number | undefined>>;
}

/** Exchanges the code of a callback URL for tokens. */
export async function exchangeCode(
  origin: string,
  callback: string,
  verifier: string,
  form: Readonly<Record<string, string>> = {},
): Promise<CodeAnswer> {
  return postToken(origin, {
    grant_type: 'authorization_code',
    client_id: APP_CLIENT,
    code: new URL(callback).searchParams.get('code') ?? '',
    redirect_uri: APP_CALLBACK,
    code_verifier: verifier,
    ...form,
  });
}

export async function postToken(origin: string, form: Readonly<Record<string, string>>): Promise<CodeAnswer> {
  const response = await fetch(`${origin}/realms/tidemark/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  return { status: response.status, body: (await response.json()) as CodeAnswer['body'] };
}
