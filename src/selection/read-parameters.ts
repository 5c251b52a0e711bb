/** Query parameters of reads (R-G1, R-G2, R-G6), for parsing and for OpenAPI; a body of `POST /data` has the same names. */
import { z } from 'zod';
import { MOMENT_RULE, type ParsedMoment, parseMoment } from '../platform/dates/date-rules.ts';
import { type Place, placeError } from '../platform/http/input-place.ts';
import { PAGING } from '../platform/http/paging.ts';
import { declareQuery, type QueryParameter } from '../platform/http/query.ts';
import {
  choiceParameter,
  enumerationParameter,
  flagParameter,
  idsParameter,
  integerParameter,
  parsedParameter,
  textsParameter,
} from '../platform/http/query-parameters.ts';
import type { CivilDuration } from '../points/point.ts';
import { AGGREGATE, GRANULARITY } from '../structure/catalogue/enumerations.ts';
import { findTimeZone } from '../structure/catalogue/time-zones.ts';
import { CURRENT, DURATION_RULE, parseDuration, parseRelative, RELATIVE_RULE } from './duration-rules.ts';
import type { TagPair } from './read-query.ts';

const text = (...examples: string[]) => z.string().meta({ examples });

/** An instant, a civil date and time, or a date alone. An unescaped `+` of an offset arrives as a blank. */
export function momentParameter(description: string): QueryParameter<ParsedMoment | undefined> {
  return parsedParameter(
    `${description} Without a zone it is on the clock of \`timeZoneId\`, else UTC; a date alone is where its day begins.`,
    text('2026-03-01', '2026-03-01T00:15:00Z'),
    (given) => parseMoment(given.replace(/ (\d{2}:?\d{2})$/, '+$1')),
    MOMENT_RULE,
  );
}

const timeZoneId = parsedParameter(
  'Dates are written on the clock of this zone, IANA or Windows; civil buckets are its days.',
  text('Europe/Brussels'),
  findTimeZone,
  'must be an IANA or Windows time zone',
);
const relativeVersion = parsedParameter(
  'The same, so long ago.',
  text('Current', 'last 3 days', 'P1M'),
  parseRelative,
  RELATIVE_RULE,
);
const horizon = parsedParameter(
  'Of every date what was known so long before it, as an ISO 8601 duration.',
  text('PT24H', 'P1D'),
  parseDuration,
  DURATION_RULE,
);

/** `key:value`: the first colon splits, so values may hold colons, and keys only in the object of a body. */
const tags: QueryParameter<readonly TagPair[]> = {
  description: 'Only values with these tags, each as `key:value`.',
  schema: z.array(z.string()),
  read: (values, placeOf) =>
    values.flatMap(({ text }, index): readonly TagPair[] => {
      if (text === '') return [];
      const colon = text.indexOf(':');
      if (colon < 1) throw placeError(placeOf(index), `must be key:value, got ${JSON.stringify(text)}`);
      return [[text.slice(0, colon), text.slice(colon + 1)]];
    }),
};

export const PERIOD = {
  from: momentParameter('First date.'),
  to: momentParameter('Where the period ends, not included.'),
  includeToBoundary: flagParameter('Takes `to` in.'),
};
export const SHAPE = {
  unitId: integerParameter('Converts values into this unit of the same family.', { min: 1 }),
  timeZoneId,
  pagingOrder: choiceParameter('By date.', ['ASC', 'DESC'], 'ASC'),
  ...PAGING,
};

/** The query of `GET /data`. */
export const READ_QUERY = declareQuery({
  variableId: idsParameter('Variables.'),
  variableIds: idsParameter('Variables.'),
  sourceId: integerParameter('Every variable of this source.', { min: 1 }),
  ...PERIOD,
  version: textsParameter('Only values under these VersionTags.'),
  asOf: momentParameter('What was known then: of each date the newest version not younger.'),
  relativeVersion,
  horizon,
  versions: choiceParameter('Every stored version, or the newest that is meant.', ['latest', 'all'], 'latest'),
  tags,
  granularity: enumerationParameter(
    'Length of the buckets; civil ones from days on, weeks from Monday.',
    GRANULARITY,
    'Raw',
  ),
  aggregation: enumerationParameter(
    'How a bucket is put together; without it by the aggregate of each variable.',
    AGGREGATE,
  ),
  fill: choiceParameter('What stands in empty buckets.', ['none', 'previous', 'linear', 'null'], 'none'),
  minCount: integerParameter('Values a bucket must have to count.', { min: 1 }),
  displayLevel: choiceParameter(
    'Whether rows have all members, or variable, date and value alone.',
    ['Normal', 'ValueVariableDate'],
    'Normal',
  ),
  ...SHAPE,
});

/** A time zone outside of a query. @throws {DomainError} invalid_input at the place. */
export function parseTimeZone(name: string | undefined, place: Place): string | undefined {
  return readText(timeZoneId, name, place);
}

/**
 * A relative version outside of a query.
 * @returns undefined for `Current` too: the latest is what is read anyway.
 * @throws {DomainError} invalid_input at the place.
 */
export function parseRelativeVersion(given: string | undefined, place: Place): CivilDuration | undefined {
  return durationOf(readText(relativeVersion, given, place));
}

/** `Current` reads the latest, as no relative version does. */
export function durationOf(relative: CivilDuration | typeof CURRENT | undefined): CivilDuration | undefined {
  return relative === CURRENT ? undefined : relative;
}

/** A horizon outside of a query. @throws {DomainError} invalid_input at the place. */
export function parseHorizon(given: string | undefined, place: Place): CivilDuration | undefined {
  return readText(horizon, given, place);
}

function readText<Value>(parameter: QueryParameter<Value>, given: string | undefined, place: Place): Value {
  return parameter.read(given === undefined ? [] : [{ name: '', text: given }], () => place);
}
