/**
 * What a listing of users asks for (§4.3): the same words in a query and in the body of the deprecated POST. Query lists
 * of objects arrive as `Claims[0].ClaimType=…&Claims[0].ClaimValue=…` (R-C3).
 */
import { z } from 'zod';
import { isStorableText, STORABLE_RULE } from '../../platform/database/storable-text.ts';
import { enumerationSchema, idSchema, integerFrom, lenientObject, parseInput } from '../../platform/http/lenient.ts';
import { parsePaging } from '../../platform/http/paging.ts';
import {
  parseQuery,
  type Query,
  queryEnumeration,
  queryError,
  queryInteger,
} from '../../platform/http/query-string.ts';
import { MAX_CLAIM_VALUE } from '../field-schemas.ts';
import { USER_DISPLAY_LEVEL, type UserDisplayLevel } from '../users/user-info.ts';

export const MAX_TEXT = 254;
const MAX_LIST = 1000;
export const BUSINESS_KEY_NAME = { Id: 0, Username: 1, BusinessId: 2 } as const;
export type BusinessKeyName = keyof typeof BUSINESS_KEY_NAME;

const textOf = (maxLength: number) => z.string().max(maxLength).refine(isStorableText, { error: STORABLE_RULE });
const textSchema = textOf(MAX_TEXT);

/** What narrows a listing; also what a saved view holds. */
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
    .refine(({ name, values }) => name || !values?.length, { error: 'need a name: Id, Username or BusinessId' })
    .nullish(),
});

const pagingMembers = { pageNumber: integerFrom(0).nullish(), itemsPerPage: integerFrom(1).nullish() };

/** UserSearchRequest, besides its filter. */
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
  /** undefined: everything is one page. */
  readonly itemsPerPage: number | undefined;
  readonly viewId: string | undefined;
  readonly accountId: number | undefined;
}

/** Reads the query of a listing. @throws DomainError invalid_input naming the parameter. */
export function parseSearchQuery(address: string): UserSearch {
  const query = parseQuery(address);
  const { limit, offset } = parsePaging(query);
  return {
    filter: parseInput(filterSchema, readFilter(query, address), 'query'),
    displayLevel: queryEnumeration(query, 'displayLevel', USER_DISPLAY_LEVEL) ?? 'Normal',
    pageNumber: limit === undefined ? 0 : offset / limit,
    itemsPerPage: limit,
    viewId: query.find('viewId'),
    accountId: queryInteger(query, 'accountId', 1),
  };
}

/** Reads a UserSearchRequest. @throws DomainError invalid_input. */
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

function readFilter(query: Query, address: string): unknown {
  const name = queryEnumeration(query, 'name', BUSINESS_KEY_NAME);
  const values = query.all('values');
  if (values.length > 0 && name === undefined) {
    const names = Object.keys(BUSINESS_KEY_NAME).join(', ');
    throw queryError('BusinessKeys.Name', `must be one of ${names} when there are values`);
  }
  return {
    searchText: query.find('searchText'),
    claims: readClaims(address),
    roles: query
      .all('roles')
      .flatMap((text) => text.split(','))
      .filter(Boolean),
    businessKeys: { name, values },
  };
}

const CLAIM = /^(?:.*\.)?claims(?:\[(\d{1,6})\])?\.(claimtype|claimvalue)$/i;

/** The objects of the list `Claims`, by their index; without one it is the first. */
function readClaims(address: string): readonly unknown[] {
  const claims = new Map<number, Record<string, string>>();
  for (const [name, value] of parametersOf(address)) {
    const [, index = '0', member = ''] = CLAIM.exec(name) ?? [];
    if (member === '') continue;
    const claim = claims.get(Number(index)) ?? {};
    // An empty value is as good as none: any value of the type.
    if (value !== '') claim[member.toLowerCase()] = value;
    claims.set(Number(index), claim);
  }
  return [...claims.entries()].sort(([a], [b]) => a - b).map(([, claim]) => claim);
}

function parametersOf(address: string): URLSearchParams {
  const start = address.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : address.slice(start + 1));
}
