/**
 * Query strings as shipped clients write them (R-A3): names in any case and with any prefix up to a dot, values
 * repeated, separated by commas or under an index as objects are (R-C3); what makes no sense is as good as absent.
 */
import type { DomainError } from '../errors.ts';
import { type Place, placeError } from './input-place.ts';

export interface Query {
  /** Every value given for a name, in order. */
  all(name: string): readonly string[];
  /** The last value given for a name; an empty one counts as absent. */
  find(name: string): string | undefined;
  /** Where a name stands, or one of its values; of an absent one, where it would stand. */
  placeOf(name: string, index?: number): Place;
}

/** Of a parameter of an address. */
export function placeInAddress(name: string): Place {
  return { subject: `query ${name}`, path: `query.${name}` };
}

const TRUE = /^(true|1)$/i;
const FALSE = /^(false|0)$/i;
/** `Ids[0]=1&Ids[1]=2`, as some libraries write lists. */
const INDEX = /\[\d*\]$/;
const DIGITS = /^\d{1,10}$/;
const MAX_INT4 = 2_147_483_647;

/** Reads the query of an address. Never fails: undecodable text stays as it is. */
export function parseQuery(address: string): Query {
  const start = address.indexOf('?');
  const parameters = new URLSearchParams(start < 0 ? '' : address.slice(start + 1));
  const values = new Map<string, string[]>();
  for (const [name, value] of parameters) {
    const key = name
      .slice(name.lastIndexOf('.') + 1)
      .replace(INDEX, '')
      .toLowerCase();
    values.set(key, [...(values.get(key) ?? []), value]);
  }
  const all = (name: string): readonly string[] => values.get(name.toLowerCase()) ?? [];
  return { all, find: (name) => all(name).at(-1) || undefined, placeOf: placeInAddress };
}

/** Ids given as `name=1&name=2` or `name=1,2`. @throws DomainError invalid_input naming the parameter. */
export function queryIds(query: Query, name: string): readonly number[] {
  return query.all(name).flatMap((value, index) => {
    const texts = value.split(',').flatMap((part) => part.trim() || []);
    return texts.map((text) => toInteger(query.placeOf(name, index), text, 1));
  });
}

/** An integer of at least `min`, absent when not given. @throws DomainError invalid_input naming the parameter. */
export function queryInteger(query: Query, name: string, min: number): number | undefined {
  const text = query.find(name);
  return text === undefined ? undefined : toInteger(query.placeOf(name), text, min);
}

/** `true`, `True`, `1`, …; absent is false. @throws DomainError invalid_input naming the parameter. */
export function queryFlag(query: Query, name: string): boolean {
  const text = query.find(name);
  if (text === undefined || FALSE.test(text)) return false;
  if (TRUE.test(text)) return true;
  throw placeError(query.placeOf(name), `must be true or false, got ${JSON.stringify(text)}`);
}

/** One of the given names, in any case. @throws DomainError invalid_input naming the choices. */
export function queryChoice<Name extends string>(
  query: Query,
  name: string,
  choices: readonly Name[],
): Name | undefined {
  const text = query.find(name);
  return text === undefined ? undefined : toChoice(query.placeOf(name), text, choices);
}

/** Some of the given names, likewise, as `name=a&name=b` or `name=a,b`. @throws DomainError invalid_input. */
export function queryChoices<Name extends string>(
  query: Query,
  name: string,
  choices: readonly Name[],
): readonly Name[] {
  return query.all(name).flatMap((value, index) => {
    const texts = value.split(',').flatMap((part) => part.trim() || []);
    return texts.map((text) => toChoice(query.placeOf(name, index), text, choices));
  });
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

/** The error for one parameter of an address. */
export function queryError(name: string, message: string): DomainError {
  return placeError(placeInAddress(name), message);
}

function toChoice<Name extends string>(place: Place, text: string, choices: readonly Name[]): Name {
  const choice = choices.find((candidate) => candidate.toLowerCase() === text.toLowerCase());
  if (choice !== undefined) return choice;
  throw placeError(place, `must be one of ${choices.join(', ')}, got ${JSON.stringify(text)}`);
}

function toInteger(place: Place, text: string, min: number): number {
  const value = DIGITS.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= MAX_INT4) return value;
  throw placeError(place, `must be an integer from ${min} to ${MAX_INT4}, got ${JSON.stringify(text)}`);
}
