/** Request bodies of the routes that manage OAuth clients. */
import { z } from 'zod';
import { booleanSchema, integerFrom, lenientObject } from '../../platform/http/lenient.ts';
import { nameSchema } from '../field-schemas.ts';
import { CLIENT_SCOPES, GRANT_TYPES } from './client-rules.ts';

const MAX_ADDRESSES = 50;
const MAX_ADDRESS_LENGTH = 2000;
const MAX_OVERLAP_HOURS = 168;

const addresses = z.array(z.string().max(MAX_ADDRESS_LENGTH)).max(MAX_ADDRESSES);
const shape = {
  name: nameSchema
    .nullish()
    .meta({ description: 'Name of the client, as the pages of the issuer show it; default: the client id.' }),
  scopes: z.array(z.enum(CLIENT_SCOPES)).min(1).max(CLIENT_SCOPES.length).nullish(),
  grantTypes: z.array(z.enum(GRANT_TYPES)).min(1).max(GRANT_TYPES.length).nullish(),
  redirectUris: addresses
    .nullish()
    .meta({ description: 'URLs to which the issuer may redirect the browser after a sign-in.' }),
  logoutUris: addresses
    .nullish()
    .meta({ description: 'URLs to which the issuer may redirect the browser after a sign-out.' }),
};

/** The body `ClientWritten`, which describes a new client. */
export const NEW_CLIENT = lenientObject({
  clientId: nameSchema.meta({
    description: 'ASCII without spaces, control characters or colons; cannot be changed later.',
  }),
  isPublic: booleanSchema
    .nullish()
    .meta({ description: 'Whether the client is a program that cannot keep a secret, such as a web page.' }),
  ...shape,
});

/**
 * The body `ClientUpdate`. A member that is absent or null leaves the client's value unchanged. Exception: a null
 * `name` removes the client's name.
 */
export const CHANGED_CLIENT = lenientObject({
  isEnabled: booleanSchema
    .nullish()
    .meta({ description: 'When false, the client is issued no tokens, and its existing refresh tokens stop working.' }),
  ...shape,
});

/** The body `ClientSecretReplacement`. */
export const REPLACED_SECRET = lenientObject({
  overlapHours: integerFrom(0, MAX_OVERLAP_HOURS).nullish().meta({
    description: 'Hours for which the old secret stays valid. With 0, the default, it stops working immediately.',
  }),
});
