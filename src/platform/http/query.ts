/**
 * Declares the query of a route once: one declaration parses the query and describes it in OpenAPI (R-A9). Routes read
 * queries only through a declaration. Shipped clients send names in many spellings (R-A3, R-C3): names
 * match in upper or lower case and with any prefix that ends in a dot, and the names of a list may have indices
 * (`Ids[0]=1`). These clients also send unknown names, which are ignored. But a listing refuses unknown names that look
 * like a filter: if it ignored them, it would answer with all items (R-A12).
 */
import type { z } from 'zod';
import type { DomainError } from '../errors.ts';
import { filterGuard } from './filter-names.ts';
import { type InputLocation, locationError, parseMembers } from './input-location.ts';

export interface GivenValue {
  /** The name as the client sent it, with prefix and index. */
  readonly name: string;
  readonly text: string;
}

/** Values by name, from the query of a URL or from the members of a body (R-G1). */
export interface QuerySource {
  /** Returns the values that the client gave under a name, in the client's order. Ignores the case of the name. */
  all(name: string): readonly GivenValue[];
  /**
   * Returns the location of the name, or of its value at `index`, for error messages; an absent name has a location
   * too.
   */
  locationOf(name: string, index?: number): InputLocation;
}

/** Describes one parameter of a query and reads its values. `query-parameters.ts` builds parameters. */
export interface QueryParameter<Value> {
  readonly description: string;
  /** Schema of the parameter in OpenAPI. An array schema means that a client may repeat the name. */
  readonly schema: z.ZodType;
  readonly isRequired?: true;
  /**
   * Further names that clients may use for this parameter, besides the documented name. The OpenAPI document has no
   * separate parameters for these names.
   */
  readonly aliases?: readonly string[];
  /** @throws {DomainError} invalid_input that names the location of the wrong value. */
  read(values: readonly GivenValue[], locationOf: (index?: number) => InputLocation): Value;
}

type QueryParameters = Readonly<Record<string, QueryParameter<unknown>>>;

/** Name of the parsed member: `Paging.PageNumber` becomes `pageNumber`. */
type MemberName<Name extends string> = Name extends `${string}.${infer Rest}` ? MemberName<Rest> : Uncapitalize<Name>;

export type QueryValues<Parameters extends QueryParameters> = {
  readonly [Name in keyof Parameters & string as MemberName<Name>]: ReturnType<Parameters[Name]['read']>;
};

export interface DeclaredQuery<Parameters extends QueryParameters> {
  /** Parameters by their documented name, in the documented order. */
  readonly parameters: Parameters;
  /**
   * Parses the query of a URL.
   * @throws {DomainError} invalid_input for invalid parameters, and for unknown names that look like a filter of a
   *   listing.
   */
  parse(address: string): QueryValues<Parameters>;
  /** Parses parameter values that do not come from a URL, for example from a body. Ignores unknown names. */
  read(source: QuerySource): QueryValues<Parameters>;
  /** Returns the location of a parameter in a URL, for error messages. */
  locationOf(name: keyof QueryValues<Parameters> & string): InputLocation;
  /** Returns the error for a parameter that `parse` accepted and the caller found invalid. */
  error(name: keyof QueryValues<Parameters> & string, message: string): DomainError;
}

interface QueryOptions {
  /** Makes `parse` refuse parameters with an unknown name that looks like a filter (R-A12). */
  readonly isListing?: true;
}

/**
 * Declares the query of a route (R-A9).
 * @param parameters all parameters, by documented name. The name of the parsed member is the part of the documented
 * name after the last dot, in lower camel case: `pageNumber` for `Paging.PageNumber`.
 */
export function declareQuery<const Parameters extends QueryParameters>(
  parameters: Parameters,
  { isListing }: QueryOptions = {},
): DeclaredQuery<Parameters> {
  const refuseFilters = isListing ? filterGuard(namesOf(parameters)) : () => {};
  const members = Object.entries(parameters).map(([name, parameter]) => [memberName(name), parameter] as const);
  const read = (source: QuerySource) =>
    parseMembers<Record<string, unknown>>(
      Object.fromEntries(members.map(([name, parameter]) => [name, () => readParameter(name, parameter, source)])),
    ) as QueryValues<Parameters>;
  return {
    parameters,
    read,
    parse: (address) => {
      const source = sourceOfAddress(address);
      refuseFilters(source.keys);
      return read(source);
    },
    locationOf: locationInAddress,
    error: (name, message) => locationError(locationInAddress(name), message),
  };
}

/** Parses a parameter. The values given under its name come first, then the values given under its aliases. */
function readParameter(name: string, parameter: QueryParameter<unknown>, source: QuerySource): unknown {
  const { aliases = [] } = parameter;
  if (aliases.length === 0) return parameter.read(source.all(name), (index) => source.locationOf(name, index));
  const given = [name, ...aliases].flatMap((alias) =>
    source.all(alias).map((value, index) => ({ value, location: () => source.locationOf(alias, index) })),
  );
  const locate = (index = given.length - 1) => given[index]?.location() ?? source.locationOf(name);
  return parameter.read(
    given.map(({ value }) => value),
    locate,
  );
}

/** Returns the member names of all parameters, such as `pageNumber` for `Paging.PageNumber`, and then all aliases. */
function namesOf(parameters: QueryParameters): readonly string[] {
  const aliases = Object.values(parameters).flatMap((parameter) => parameter.aliases ?? []);
  return [...new Set([...Object.keys(parameters).map(memberName), ...aliases])];
}

function memberName(name: string): string {
  const last = name.slice(name.lastIndexOf('.') + 1);
  return last.charAt(0).toLowerCase() + last.slice(1);
}

/** Returns the location of a query parameter, for error messages. */
export function locationInAddress(name: string): InputLocation {
  return { subject: `query ${name}`, path: `query.${name}` };
}

const INDEX = /\[\d*\]$/;

/** Reads the query values of a URL. Never throws, even when an escape in the URL cannot be decoded. */
function sourceOfAddress(address: string): QuerySource & { readonly keys: Iterable<string> } {
  const start = address.indexOf('?');
  const values = new Map<string, GivenValue[]>();
  for (const [name, text] of new URLSearchParams(start < 0 ? '' : address.slice(start + 1))) {
    const key = name
      .slice(name.lastIndexOf('.') + 1)
      .replace(INDEX, '')
      .toLowerCase();
    const known = values.get(key);
    if (known) known.push({ name, text });
    else values.set(key, [{ name, text }]);
  }
  return { all: (name) => values.get(name.toLowerCase()) ?? [], locationOf: locationInAddress, keys: values.keys() };
}
