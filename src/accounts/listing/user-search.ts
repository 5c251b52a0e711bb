/**
 * Parses a search for users (§4.3), from a query or from the body of the deprecated POST. In a query, a list of objects
 * is written `Claims[0].ClaimType=…&Claims[0].ClaimValue=…` (R-C3).
 */
import { z } from 'zod';
import { isStorableText, STORABLE_RULE } from '../../platform/database/storable-text.ts';
import { DomainError } from '../../platform/errors.ts';
import { locationError } from '../../platform/http/input-location.ts';
import {
  enumerationSchema,
  idSchema,
  integerFrom,
  invalidInput,
  lenientObject,
  parseInput,
} from '../../platform/http/lenient.ts';
import { PAGING } from '../../platform/http/paging.ts';
import { declareQuery, type QueryParameter, type QueryValues } from '../../platform/http/query.ts';
import {
  enumerationParameter,
  idsParameter,
  integerParameter,
  named,
  textParameter,
} from '../../platform/http/query-parameters.ts';
import { MAX_CLAIM_VALUE } from '../field-schemas.ts';
import { USER_DISPLAY_LEVEL, type UserDisplayLevel } from '../users/user-info.ts';

const MAX_TEXT = 254;
const MAX_LIST = 1000;
export const BUSINESS_KEY_NAME = { Id: 0, Username: 1, BusinessId: 2 } as const;
export type BusinessKeyName = keyof typeof BUSINESS_KEY_NAME;

const textOf = (maxLength: number) => z.string().max(maxLength).refine(isStorableText, { error: STORABLE_RULE });
const textSchema = textOf(MAX_TEXT);

/** Filter of a listing of users; a saved view stores such a filter. */
export const filterSchema = lenientObject({
  searchText: textSchema.nullish(),
  claims: z
    .array(
      lenientObject({
        claimType: textSchema.min(1, 'must not be empty'),
        claimValue: textOf(MAX_CLAIM_VALUE).nullish(),
      }),
    )
    .max(MAX_LIST)
    .nullish(),
  roles: z.array(textSchema).max(MAX_LIST).nullish(),
  businessKeys: lenientObject({
    name: enumerationSchema(BUSINESS_KEY_NAME).nullish(),
    values: z.array(textSchema).max(MAX_LIST).nullish(),
  })
    .refine(({ name, values }) => name || !values?.length, {
      error: 'has values but no `name`; set `name` to Id, Username or BusinessId',
    })
    .nullish(),
});

const pagingMembers = { pageNumber: integerFrom(0).nullish(), itemsPerPage: integerFrom(1).nullish() };

/** Schema of UserSearchRequest (§4.3) without the members of `filterSchema`. */
export const requestSchema = lenientObject({
  displayLevel: enumerationSchema(USER_DISPLAY_LEVEL).nullish(),
  paging: lenientObject(pagingMembers).nullish(),
  ...pagingMembers,
  viewId: textSchema.nullish(),
  accountId: idSchema.nullish(),
});

export type UserFilter = z.output<typeof filterSchema>;

export interface UserSearch {
  readonly filter: UserFilter;
  readonly displayLevel: UserDisplayLevel;
  readonly pageNumber: number;
  /** Users per page; undefined means all users on one page. */
  readonly itemsPerPage: number | undefined;
  readonly viewId: string | undefined;
  readonly accountId: number | undefined;
}

/** The query parameter `Claims[index].Member=text`. It sets one member of the claim at `index`. */
interface IndexedText {
  readonly index: number;
  readonly text: string;
}

const CLAIM = /(?:^|\.)claims(?:\[(\d{1,6})\])?\.[^.]*$/i;

/**
 * Parameter for one member of the objects in `Claims`, such as `Claims[1].ClaimType`. `Claims.ClaimType` means index 0.
 */
function claimParameter(description: string, maxLength: number): QueryParameter<readonly IndexedText[]> {
  return {
    description,
    schema: z.string().max(maxLength),
    read: (values) =>
      values.flatMap(({ name, text }) => {
        const match = CLAIM.exec(name);
        return match ? [{ index: Number(match[1] ?? 0), text }] : [];
      }),
  };
}

/**
 * @param separator text at which each value of the parameter is split; undefined means that values are not split.
 * @returns a parameter that a query may repeat. `filterSchema` checks the length of the texts.
 */
function textsParameter(description: string, separator?: string): QueryParameter<readonly string[]> {
  return {
    description,
    schema: z.array(z.string().max(MAX_TEXT)),
    read: (values) => {
      const texts = values.map(({ text }) => text);
      return separator === undefined ? texts : texts.flatMap((text) => text.split(separator)).filter(Boolean);
    },
  };
}

const KEY_NAME = 'BusinessKeys.Name';
const SEARCH = {
  DisplayLevel: enumerationParameter(
    'Which fields of each user are returned. A caller with the role USER gets Normal instead of Verbose.',
    USER_DISPLAY_LEVEL,
    'Normal',
  ),
  SearchText: textParameter(
    'Each word must occur in at least one of the user’s `pseudo`, `firstName`, `lastName` and `email`; letter case and accents are ignored.',
    z.string().max(MAX_TEXT),
  ),
  Roles: textsParameter('Users with any of these roles.', ','),
  [KEY_NAME]: enumerationParameter('Kind of key in `BusinessKeys.Values`.', BUSINESS_KEY_NAME),
  'BusinessKeys.Values': textsParameter('Users with any of these keys.'),
  'Claims[0].ClaimType': claimParameter(
    'Users with this claim in the listed account. `GET /account/users/visibleToMe` looks only at claims in the account of the caller. Give further claims as `Claims[1]…`; a user must have all of them.',
    MAX_TEXT,
  ),
  'Claims[0].ClaimValue': claimParameter(
    'Value of the claim. Without this parameter, any value matches.',
    MAX_CLAIM_VALUE,
  ),
  ViewId: textParameter('A saved view, applied in addition to the other filters.', z.string().max(MAX_TEXT)),
  'Paging.PageNumber': PAGING.pageNumber,
  'Paging.ItemsPerPage': PAGING.itemsPerPage,
};

export const USER_LIST = declareQuery(
  {
    ...SEARCH,
    AccountId: integerParameter(
      'Account whose users are listed, instead of the account of the caller. Requires the role ADMIN.',
      { min: 1 },
    ),
  },
  { isListing: true },
);
export const VISIBLE_USER_LIST = declareQuery(
  { ...SEARCH, AccountIds: named(idsParameter('Users of any of these accounts.'), 'AccountId') },
  { isListing: true },
);

/** Converts the query of a listing (§4.3). @throws {DomainError} invalid_input, with the invalid parameter's name. */
export function toUserSearch(
  query: QueryValues<typeof SEARCH> & { readonly accountId?: number | undefined },
): UserSearch {
  const { displayLevel, pageNumber, itemsPerPage, viewId, accountId } = query;
  return {
    filter: parseFilter(query),
    displayLevel,
    pageNumber,
    itemsPerPage,
    viewId,
    accountId,
  };
}

/** Parses a UserSearchRequest (§4.3). @throws {DomainError} invalid_input, with the names of the invalid members. */
export function parseSearchRequest(body: unknown): UserSearch {
  const request = parseInput(requestSchema, body);
  return {
    filter: parseInput(filterSchema, body),
    displayLevel: request.displayLevel ?? 'Normal',
    pageNumber: request.paging?.pageNumber ?? request.pageNumber ?? 0,
    itemsPerPage: request.paging?.itemsPerPage ?? request.itemsPerPage ?? undefined,
    viewId: request.viewId || undefined,
    accountId: request.accountId ?? undefined,
  };
}

/** Path of a claim in an error of `filterSchema`. */
const CLAIM_PATH = /^query\.claims\[(\d+)\]/;

function parseFilter(query: QueryValues<typeof SEARCH>): UserFilter {
  const used = [...query.claimType, ...query.claimValue].map(({ index }) => index);
  const indices = [...new Set(used)].sort((a, b) => a - b);
  const given = readFilter(query, indices);
  try {
    return parseInput(filterSchema, given, 'query');
  } catch (error) {
    if (!(error instanceof DomainError) || !error.details) throw error;
    // The query string may number its claims with gaps, such as 0 and 2. The schema counts these claims as 0 and 1. An
    // error must name the number from the query string.
    const toIndexInQuery = (_path: string, at: string) => `query.claims[${indices[Number(at)]}]`;
    throw invalidInput(
      error.details.map((detail) => ({ ...detail, path: detail.path.replace(CLAIM_PATH, toIndexInQuery) })),
    );
  }
}

function readFilter(
  { searchText, claimType, claimValue, roles, name, values }: QueryValues<typeof SEARCH>,
  claimIndices: readonly number[],
): unknown {
  if (values.length > 0 && name === undefined) {
    const names = Object.keys(BUSINESS_KEY_NAME).join(', ');
    throw locationError(
      { subject: `query ${KEY_NAME}`, path: `query.${KEY_NAME}` },
      `must be one of ${names} when BusinessKeys.Values is given`,
    );
  }
  // If a query repeats a parameter such as `Claims[0].ClaimType`, its last non-empty text wins.
  const textAt = (texts: readonly IndexedText[], at: number) =>
    texts.findLast(({ index, text }) => index === at && text !== '')?.text;
  const claims = claimIndices.map((index) => {
    const [type, value] = [textAt(claimType, index), textAt(claimValue, index)];
    return { ...(type !== undefined && { claimType: type }), ...(value !== undefined && { claimValue: value }) };
  });
  return { searchText, claims, roles, businessKeys: { name, values } };
}
