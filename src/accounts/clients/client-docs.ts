/** OpenAPI descriptions of the operations that manage OAuth clients and signing keys (R-A9). */
import { z } from 'zod';
import type { DescribedKey } from '../../identity/keys/signing-keys.ts';
import {
  ADMINS,
  answersJson,
  answersNothing,
  instantSchema,
  jsonBody,
  type Operation,
  textId,
} from '../../platform/openapi/operation.ts';
import { CLIENT_LIST, type ShownClient } from './client-routes.ts';
import { CHANGED_CLIENT, NEW_CLIENT, REPLACED_SECRET } from './client-schema.ts';

const manages = { tag: 'Clients', access: ADMINS } as const;
const inPath = { clientId: textId('Id of the client.') };
const ONE = '/admin/clients/:clientId';
const LIFETIME = 'Access tokens that are already issued stay valid until they expire.';

const client = z
  .object({
    clientId: z.string(),
    name: z.string().nullable(),
    scopes: z.array(z.string()),
    grantTypes: z.array(z.string()),
    redirectUris: z.array(z.string()),
    logoutUris: z.array(z.string()),
    isPublic: z.boolean().meta({ description: 'True when the client has no secret.' }),
    isEnabled: z.boolean(),
    isBuiltIn: z.boolean().meta({
      description: 'Whether the client is part of the service and therefore can be neither changed nor deleted.',
    }),
    createdDate: instantSchema,
    secretDate: instantSchema
      .nullable()
      .meta({ description: 'When the secret was last replaced; null when it was never replaced.' }),
    previousSecretUntil: instantSchema.nullable().meta({
      description: 'Instant until which the previous secret stays valid; null when no previous secret is valid.',
    }),
  })
  .meta({ id: 'Client' }) satisfies z.ZodType<ShownClient>;
const created = z.object({ ...client.shape, secret: z.string().optional() }).meta({
  id: 'ClientWithSecret',
  description: 'Only this answer contains the secret; it cannot be read later. A public client has no secret.',
});
const key = z
  .object({
    kid: z.string(),
    algorithm: z.string(),
    state: z.enum(['Next', 'Signing', 'Verifying']).meta({
      description:
        'Next: the key is published, and will sign later. Signing: the key signs new tokens. Verifying: the key signs no new tokens, but still verifies the tokens that it signed.',
    }),
    createdDate: instantSchema,
    signsFrom: instantSchema
      .nullable()
      .meta({ description: 'Instant at which the key begins to sign; null unless the state is Next.' }),
  })
  .meta({ id: 'SigningKey' }) satisfies z.ZodType<DescribedKey>;

export const CLIENT_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/admin/clients', operationId: 'listClients', ...manages },
    summary: 'List OAuth clients',
    query: CLIENT_LIST,
    isListing: true,
    answers: [answersJson('The clients of the embedded token issuer, sorted by id.', z.array(client))],
  },
  {
    ...{ method: 'post', path: '/admin/clients', operationId: 'createClient', ...manages },
    summary: 'Create an OAuth client',
    description:
      'A client has no rights of its own: its tokens have the rights of the user who signs in. Without `grantTypes`, every client gets `refresh_token`, a client with a secret also gets `password`, and a client with `redirectUris` also gets `authorization_code`.',
    body: jsonBody(NEW_CLIENT.meta({ id: 'ClientWritten', examples: [{ clientId: 'north-import' }] })),
    answers: [answersJson('The new client with its secret.', created)],
    errors: ['conflict'],
  },
  {
    ...{ method: 'put', path: ONE, operationId: 'updateClient', summary: 'Change an OAuth client', ...manages, inPath },
    description: `A disabled client gets no tokens, and its refresh tokens are deleted. ${LIFETIME}`,
    body: jsonBody(
      CHANGED_CLIENT.meta({
        id: 'ClientUpdate',
        description: 'An absent member keeps its value. The value null for `name` removes the name.',
        examples: [{ isEnabled: false }],
      }),
    ),
    answers: [answersJson('The changed client.', client)],
    errors: ['conflict'],
  },
  {
    ...{ method: 'post', path: `${ONE}/secret`, operationId: 'replaceClientSecret', ...manages, inPath },
    summary: 'Replace the secret of an OAuth client',
    body: jsonBody(REPLACED_SECRET.meta({ id: 'ClientSecretReplacement', examples: [{ overlapHours: 24 }] })),
    answers: [answersJson('The client with its new secret.', created)],
    errors: ['conflict'],
  },
  {
    ...{ method: 'delete', path: ONE, operationId: 'deleteClient', summary: 'Delete an OAuth client' },
    ...{ ...manages, inPath },
    description: `Refresh tokens of the client are deleted. ${LIFETIME}`,
    answers: [answersNothing('Deleted.', 200)],
    errors: ['conflict'],
  },
  {
    ...{ method: 'get', path: '/admin/signingKeys', operationId: 'listSigningKeys', ...manages },
    summary: 'List the signing keys of the embedded token issuer',
    answers: [answersJson('The newest first.', z.array(key))],
  },
  {
    ...{ method: 'post', path: '/admin/signingKeys', operationId: 'createSigningKey', ...manages },
    summary: 'Create a signing key',
    description:
      'The new key is published 15 minutes before it begins to sign. For two days after the new key has begun to sign, tokens that the old key signed can still be verified.',
    answers: [answersJson('The new key.', key)],
    errors: ['conflict'],
  },
];
