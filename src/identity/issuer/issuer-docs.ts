/**
 * OpenAPI operations of the embedded issuer (R-A9, R-B3): the token endpoint, and the discovery document, which lists
 * all endpoints.
 */
import { z } from 'zod';
import { answersJson, OPEN, type Operation } from '../../platform/openapi/operation.ts';
import { KNOWN_SCOPES } from './grants/token-request-rules.ts';

const tag = 'Tokens';
const FORM = 'application/x-www-form-urlencoded';

const tokenRequest = z
  .object({
    grant_type: z.enum([
      'password',
      'refresh_token',
      'authorization_code',
      'urn:ietf:params:oauth:grant-type:token-exchange',
    ]),
    client_id: z
      .string()
      .meta({ description: 'Required unless the client id and secret are sent with HTTP Basic authentication.' })
      .optional(),
    client_secret: z.string().optional(),
    username: z.string().optional(),
    password: z.string().optional(),
    refresh_token: z.string().optional(),
    scope: z
      .string()
      .meta({
        description: 'Requested scopes, separated by spaces. `opisense-api` is an alias of `datahub-api`.',
        examples: [KNOWN_SCOPES.join(' ')],
      })
      .optional(),
    account: z
      .string()
      .meta({
        description:
          'Id of an account of the user; an ADMIN may give any account. Default: the account of the sign-in for a refresh token or a code, else the active account.',
      })
      .optional(),
    acr_values: z.string().meta({ description: 'Older form of `account`: `accountId:<id>`.' }).optional(),
  })
  .meta({ id: 'TokenRequest' });
const token = z
  .object({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int().meta({ description: 'Lifetime of the access token in seconds.' }),
    refresh_token: z.string().optional(),
    id_token: z.string().optional(),
    issued_token_type: z.string().optional(),
    scope: z.string().meta({ description: 'Granted scopes, under the names in the request, separated by spaces.' }),
    refused_scope: z
      .string()
      .meta({ description: 'Requested scopes that the token does not have, separated by spaces.' })
      .optional(),
  })
  .meta({ id: 'Token' });
const refusal = z
  .object({ error: z.string(), error_description: z.string().optional() })
  .meta({ id: 'TokenError', description: 'The error of a refused token request, as RFC 6749 §5.2 defines it.' });

/** Describes the routes of the embedded issuer (R-A9, R-B3). @param realm name of the issuer's realm. */
export function issuerOperations(realm: string): readonly Operation[] {
  const root = `/realms/${realm}`;
  return [
    {
      ...{ method: 'post', path: `${root}/protocol/openid-connect/token`, operationId: 'requestToken', tag },
      summary: 'Request a token',
      description:
        'Grants: password, refresh token, authorization code with PKCE, token exchange (RFC 8693). `/connect/token` is an alias of this path.',
      access: OPEN,
      body: { types: { [FORM]: tokenRequest } },
      answers: [
        answersJson('The token.', token),
        { ...answersJson('`invalid_request`, `invalid_grant`, `invalid_scope`, …', refusal), status: 400 },
        { ...answersJson('`invalid_client`', refusal), status: 401 },
      ],
      errors: ['rate_limited'],
    },
    {
      ...{ method: 'get', path: `${root}/.well-known/openid-configuration`, operationId: 'getDiscovery', tag },
      summary: 'Read the discovery document, which lists every endpoint of the issuer',
      access: OPEN,
      answers: [
        answersJson(
          'The discovery document, as OpenID Connect Discovery 1.0 defines it.',
          z.record(z.string(), z.unknown()),
        ),
      ],
    },
  ];
}
