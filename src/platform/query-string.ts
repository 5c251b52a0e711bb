/**
 * Query strings as shipped clients write them (R-A3): names in any case and with any prefix up to a dot, values
 * repeated or separated by commas; what makes no sense is as good as absent.
 */
import { DomainError } from './errors.ts';

export interface Query {
  /** Every value given for a name, in order. */
  all(name: string): readonly string[];
  /** The last value given for a name; an empty one counts as absent. */
  find(name: string): string | undefined;
}

const TRUE = /^(true|1)$/i;
const FALSE = /^(false|0)$/i;
const DIGITS = /^\d{1,10}$/;
const MAX_INT4 = 2_147_483_647;

/** Reads the query of an address. Never fails: undecodable text stays as it is. */
export function parseQuery(address: string): Query {
  const start = address.indexOf('?');
  const parameters = new URLSearchParams(start < 0 ? '' : address.slice(start + 1));
  const values = new Map<string, string[]>();
  for (const [name, value] of parameters) {
    const key = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
    values.set(key, [...(values.get(key) ?? []), value]);
  }
  const all = (name: string): readonly string[] => values.get(name.toLowerCase()) ?? [];
  return { all, find: (name) => all(name).at(-1) || undefined };
}

/** Ids given as `name=1&name=2` or `name=1,2`. @throws DomainError invalid_input naming the parameter. */
export function queryIds(query: Query, name: string): readonly number[] {
  const texts = query.all(name).flatMap((value) => value.split(',').flatMap((part) => part.trim() || []));
  return texts.map((text) => toInteger(name, text, 1));
}

/** An integer of at least `min`, absent when not given. @throws DomainError invalid_input naming the parameter. */
export function queryInteger(query: Query, name: string, min: number): number | undefined {
  const text = query.find(name);
  return text === undefined ? undefined : toInteger(name, text, min);
}

/** `true`, `True`, `1`, …; absent is false. @throws DomainError invalid_input naming the parameter. */
export function queryFlag(query: Query, name: string): boolean {
  const text = query.find(name);
  if (text === undefined || FALSE.test(text)) return false;
  if (TRUE.test(text)) return true;
  throw queryError(name, `must be true or false, got ${JSON.stringify(text)}`);
}

/** One of the given names, in any case. @throws DomainError invalid_input naming the choices. */
export function queryChoice<Name extends string>(
  query: Query,
  name: string,
  choices: readonly Name[],
): Name | undefined {
  const text = query.find(name);
  if (text === undefined) return undefined;
  const choice = choices.find((candidate) => candidate.toLowerCase() === text.toLowerCase());
  if (choice === undefined) throw queryError(name, `must be one of ${choices.join(', ')}, got ${JSON.stringify(text)}`);
  return choice;
}

/** A member of an enumeration, by name in any case or by number. @throws DomainError invalid_input naming the members. */
export function queryEnumeration<Name extends string>(
  query: Query,
  name: string,
  members: Readonly<Record<Name, number>>,
): Name | undefined {
  const names = Object.keys(members) as Name[];
  const text = query.find(name);
  const byNumber = names.find((member) => String(members[member]) === text);
  return byNumber ?? queryChoice(query, name, names);
}

/** The error for one parameter. */
export function queryError(name: string, message: string): DomainError {
  return new DomainError('invalid_input', `query ${name} ${message}`, [{ path: `query.${name}`, message }]);
}

function toInteger(name: string, text: string, min: number): number {
  const value = DIGITS.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= MAX_INT4) return value;
  throw queryError(name, `must be an integer of at least ${min}, got ${JSON.stringify(text)}`);
}
