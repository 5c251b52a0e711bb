/** Schemas of values in requests that write an account, a user, a client, a saved view or an invitation. */
import { z } from 'zod';
import { isStorableText, STORABLE_RULE } from '../platform/database/storable-text.ts';
import { INSTANT_RULE, parseInstant } from '../platform/dates/date-rules.ts';
import { booleanSchema, enumerationSchema, idSchema, lenientObject } from '../platform/http/lenient.ts';
import { listLanguages } from '../structure/catalogue/languages.ts';
import type { RoleName } from './users/user-rules.ts';

/** Maximum length of names and other short texts. Every email address fits (RFC 5321 §4.5.3.1). */
const MAX_NAME = 254;
export const MAX_CLAIM_VALUE = 2000;
/** Maximum length of a list of claims, features, sites or sources. */
const MAX_LIST = 100_000;
const ROLE_NAMES = ['ADMIN', 'MANAGER', 'USER'] as const satisfies readonly RoleName[];
/** Levels of features and levels of site access, each with its number; equal names have equal numbers (R-A3). */
const FEATURE_LEVEL = { None: 0, Read: 1, Write: 2, Admin: 3 } as const;
const SITE_ACCESS_LEVEL = { Read: 1, Write: 2, Admin: 3 } as const;
const LANGUAGES: ReadonlySet<string> = new Set(listLanguages().map(({ id }) => id));

// These two patterns are applied by refinements, which keeps the patterns out of the OpenAPI document. Few validators
// in other languages support \p{…}.
const CONTROL_CHARACTER = /\p{Cc}/u;
const MAIL_ADDRESS = /^[^\s\p{Cc}<>()[\]\\,;:"@]+@[^\s\p{Cc}<>()[\]\\,;:"@]+$/u;

/** @returns the first 100 characters of a refused value as JSON, for a message. */
export function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 100);
}

export const shortTextSchema = z.string().max(MAX_NAME).refine(isStorableText, { error: STORABLE_RULE });
export const nameSchema = shortTextSchema.trim().min(1, 'must not be empty');

/** A user name: one line, without control characters. */
export const userNameSchema = nameSchema.refine((name) => !CONTROL_CHARACTER.test(name), {
  error: 'must not contain line breaks or control characters',
});

/** A single email address, without display name and without characters that separate addresses. */
export const emailSchema = shortTextSchema.trim().refine((address) => MAIL_ADDRESS.test(address), {
  error: ({ input }) => `must be an email address such as name@example.com, got ${shown(input)}`,
});

/** An ISO 639-1 code in any letter case; a region after the code (`fr-BE`) is dropped. */
export const languageSchema = z
  .string()
  .transform((text) => text.trim().split(/[-_]/, 1)[0]?.toLowerCase() ?? '')
  .refine((code) => LANGUAGES.has(code), {
    error: ({ input }) => `must be an ISO 639-1 language code such as en, got ${shown(input)}`,
  })
  .meta({ type: 'string', examples: ['en', 'fr'] });

/** A role: its name, or `{id, name}` (§5). `id` is read only without a `name`. Letter case is ignored. */
export const roleSchema = z.preprocess(
  (value) => {
    const role = typeof value === 'object' && value !== null ? roleName(value) : value;
    return typeof role === 'string' ? role.trim().toUpperCase() : role;
  },
  z.enum(ROLE_NAMES, { error: ({ input }) => `must be one of ${ROLE_NAMES.join(', ')}, got ${shown(input)}` }),
);

function roleName(value: object): unknown {
  const members = Object.entries(value).map(([key, member]) => [key.toLowerCase(), member] as const);
  const { id, name } = Object.fromEntries(members) as { id?: unknown; name?: unknown };
  return name ?? id;
}

const claimValueSchema = z.preprocess(
  (value) => (typeof value === 'boolean' || typeof value === 'number' ? String(value) : (value ?? 'true')),
  z.string().max(MAX_CLAIM_VALUE).refine(isStorableText, { error: STORABLE_RULE }),
);

/** UserClaim as clients write it. The member `id` is ignored, because it is always 0 (§5). */
export const claimSchema = lenientObject({
  userId: shortTextSchema.nullish(),
  claimType: nameSchema,
  claimValue: claimValueSchema,
});
export const claimsSchema = z.array(claimSchema).max(MAX_LIST);

/** A list of UserFeature as clients write it. Each item identifies its feature by id or by name. */
export const featuresSchema = z
  .array(
    lenientObject({
      id: idSchema.nullish(),
      name: shortTextSchema.nullish(),
      level: enumerationSchema(FEATURE_LEVEL),
    }),
  )
  .max(MAX_LIST);

/** A list of SiteAccessModel as clients write it. */
export const sitesSchema = z
  .array(
    lenientObject({
      siteId: idSchema,
      level: z.preprocess((value) => value ?? 'Read', enumerationSchema(SITE_ACCESS_LEVEL)),
      // Ids of the covered sources; an empty list covers no source. Without a list, the access covers all sources of
      // the site.
      sourceIds: z.array(idSchema).max(MAX_LIST).nullish(),
    }),
  )
  .max(MAX_LIST);

/** Ids of the sites to which access is revoked. */
export const siteIdsSchema = z.array(idSchema).max(MAX_LIST);

/** The body `UserLock` (R-B11). */
export const lockSchema = lenientObject({
  isLocked: booleanSchema,
  until: z
    .union([z.string(), z.number()], { error: INSTANT_RULE })
    .transform((given) => parseInstant(String(given)))
    .refine((instant) => instant !== undefined, { error: INSTANT_RULE })
    .nullish(),
  reason: shortTextSchema.nullish(),
});

export type WrittenClaim = z.output<typeof claimSchema>;
export type WrittenFeature = z.output<typeof featuresSchema>[number];
export type WrittenSite = z.output<typeof sitesSchema>[number];
