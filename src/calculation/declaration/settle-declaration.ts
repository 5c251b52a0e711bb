/**
 * Converts the dates that clients write in a declaration (R-A11). An ISO 8601 date without a zone is local time of the
 * variable's source; a date in epoch milliseconds is an instant. Both are stored as instants, so that a later change of
 * the source's zone does not move them.
 */
import type { Queryable } from '../../platform/database/database.ts';
import { type ParsedDate, parseDate } from '../../platform/dates/date-rules.ts';
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import { localClock } from '../../structure/catalogue/time-zones.ts';

export interface SettledDeclaration {
  readonly calculated: unknown;
  /**
   * Has one element, the time zone in which local dates were interpreted; empty when the declaration has no local date.
   */
  readonly dateZones: readonly string[];
}

type Convert = (value: unknown) => unknown;

const FORMULAS = 'calculatedvariableformulas';
const INPUTS = 'variables';
const DATES_OF_FORMULA: ReadonlySet<string> = new Set(['validfrom', 'validuntil']);
const DATES_OF_INPUT: ReadonlySet<string> = new Set(['fromabsoluteperiod', 'toabsoluteperiod', 'asof']);

/**
 * Converts local dates and epoch milliseconds of a declaration to instants. Other values stay unchanged: the schema
 * checks them later.
 * @param sourceId id of the variable's source.
 */
export async function settleDeclaration(
  queryable: Queryable,
  sourceId: unknown,
  calculated: unknown,
): Promise<SettledDeclaration> {
  let hasLocalDates = false;
  const settled = mapDates(calculated, (value) => {
    const date = toDate(value);
    if (date?.isLocal) hasLocalDates = true;
    // Converts only epoch milliseconds: a date without a colon that is not local. All other dates are kept.
    const isKept = !date || date.isLocal || String(value).includes(':');
    return isKept ? value : formatInstant(date.micros);
  });
  if (!hasLocalDates) return { calculated: settled, dateZones: [] };
  const zone = await findZone(queryable, sourceId);
  const toInstant = localClock(zone);
  const convert: Convert = (value) => {
    const date = toDate(value);
    return date?.isLocal ? formatInstant(toInstant(date.micros, date.isDay).micros) : value;
  };
  return { calculated: mapDates(settled, convert), dateZones: [zone] };
}

function toDate(value: unknown): ParsedDate | undefined {
  return typeof value === 'string' || typeof value === 'number' ? parseDate(String(value)) : undefined;
}

/** Applies `convert` to the dates of formulas and inputs. The case of member names is ignored (R-A3). */
function mapDates(calculated: unknown, convert: Convert): unknown {
  const mapInput = (input: unknown) =>
    mapMembers(input, (name, value) => (DATES_OF_INPUT.has(name) ? convert(value) : value));
  const mapFormula = (formula: unknown) =>
    mapMembers(formula, (name, value) => {
      if (DATES_OF_FORMULA.has(name)) return convert(value);
      return name === INPUTS ? mapItems(value, mapInput) : value;
    });
  return mapMembers(calculated, (name, value) => (name === FORMULAS ? mapItems(value, mapFormula) : value));
}

function mapMembers(value: unknown, map: (name: string, member: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, map(name.toLowerCase(), member)]));
}

function mapItems(value: unknown, map: Convert): unknown {
  return Array.isArray(value) ? value.map(map) : value;
}

async function findZone(queryable: Queryable, sourceId: unknown): Promise<string> {
  const { rows } = await queryable.query<{ zone: string }>(
    `select coalesce(source.time_zone_id, site.time_zone_id) as zone
     from source join site on site.id = source.site_id where source.id = $1`,
    [sourceId],
  );
  return rows[0]?.zone ?? 'UTC';
}
