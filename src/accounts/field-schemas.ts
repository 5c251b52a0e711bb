/** Schemas of the members of accounts and users as clients write them. */
import { z } from 'zod';
import { isStorableText, STORABLE_RULE } from '../platform/database/storable-text.ts';
import { INSTANT_RULE, parseInstant } from '../platform/dates/date-rules.ts';
import { booleanSchema, enumerationSchema, idSchema, lenientObject } from '../platform/http/lenient.ts';
import { listLanguages } from '../structure/catalogue/languages.ts';
import type { RoleName } from './users/user-rules.ts';

/** As long as a mail address may be (RFC 5321 §4.5.3.1), which is a user name where none is given. */
const MAX_NAME = 254;
export const MAX_CLAIM_VALUE = 2000;
/** The size of a body limits lists sooner: whatever has grown by many requests is accepted back in one (R-C). */
const MAX_LIST = 100_000;
const ROLE_NAMES = ['ADMIN', 'MANAGER', 'USER'] as const satisfies readonly RoleName[];
/** Levels in their order: the number of one is the same in both. */
const FEATURE_LEVEL = { None: 0, Read: 1, Write: 2, Admin: 3 } as const;
const SITE_ACCESS_LEVEL = { Read: 1, Write: 2, Admin: 3 } as const;
const LANGUAGES: ReadonlySet<string> = new Set(listLanguages().map(({ id }) => id));

export const shortTextSchema = z.string().max(MAX_NAME).refine(isStorableText, { error: STORABLE_RULE });
export const nameSchema = shortTextSchema.trim().min(1, 'must not be empty');

/** What is typed at a sign-in and read in mails and logs: on one line. */
export const userNameSchema = nameSchema.regex(/^\P{Cc}*$/u, {
  error: 'must not contain line breaks or control characters',
});

/** One address, as mail servers take it; nothing that could be read as two, or as a name. */
export const emailSchema = shortTextSchema.trim().regex(/^[^\s\p{Cc}<>()[\]\\,;:"@]+@[^\s\p{Cc}<>()[\]\\,;:"@]+$/u, {
  error: 'must be a mail address',
});

/** ISO 639-1 in any case; a region after it (`fr-BE`) is left out. */
export const languageSchema = z
  .string()
  .transform((text) => text.trim().split(/[-_]/, 1)[0]?.toLowerCase() ?? '')
  .refine((code) => LANGUAGES.has(code), { error: 'must be a language of ISO 639-1, such as en' })
  .meta({ type: 'string', examples: ['en', 'fr'] });

/** A role as its name, in any case, or as `{id, name}`: the id of a role is its name (§5). */
export const roleSchema = z.preprocess(
  (value) => {
    const role = typeof value === 'object' && value !== null ? roleName(value) : value;
    return typeof role === 'string' ? role.trim().toUpperCase() : role;
  },
  z.enum(ROLE_NAMES, { error: `must be one of ${ROLE_NAMES.join(', ')}` }),
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

/** UserClaim as written: `id` is always 0 and ignored (§5). */
export const claimSchema = lenientObject({
  userId: shortTextSchema.nullish(),
  claimType: nameSchema,
  claimValue: claimValueSchema,
});
export const claimsSchema = z.array(claimSchema).max(MAX_LIST);

/** UserFeature as written: by its number, or by its name. */
export const featuresSchema = z
  .array(
    lenientObject({
      id: idSchema.nullish(),
      name: shortTextSchema.nullish(),
      level: enumerationSchema(FEATURE_LEVEL),
    }),
  )
  .max(MAX_LIST);

/** SiteAccessModel as written. */
export const sitesSchema = z
  .array(
    lenientObject({
      siteId: idSchema,
      level: z.preprocess((value) => value ?? 'Read', enumerationSchema(SITE_ACCESS_LEVEL)),
      // These alone, none if it is empty; left out or null: all of the site.
      sourceIds: z.array(idSchema).max(MAX_LIST).nullish(),
    }),
  )
  .max(MAX_LIST);

/** The numbers of sites to take away. */
export const siteIdsSchema = z.array(idSchema).max(MAX_LIST);

/** UserLock (R-B11). */
export const lockSchema = lenientObject({
  isLocked: booleanSchema,
  until: z
    .string()
    .transform((text) => parseInstant(text))
    .refine((instant) => instant !== undefined, { error: INSTANT_RULE })
    .nullish(),
  reason: shortTextSchema.nullish(),
});

export type WrittenClaim = z.output<typeof claimSchema>;
export type WrittenFeature = z.output<typeof featuresSchema>[number];
export type WrittenSite = z.output<typeof sitesSchema>[number];
