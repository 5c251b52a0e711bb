/**
 * Declares the parameters of read requests (R-G1, R-G2, R-G6), for the parser and the OpenAPI document. `POST /data`
 * has the same parameters in its body.
 */
import { z } from 'zod';
import type { ParsedMoment } from '../platform/dates/date-rules.ts';
import { type InputLocation, locationError } from '../platform/http/input-location.ts';
import { PAGING } from '../platform/http/paging.ts';
import { declareQuery, type QueryParameter } from '../platform/http/query.ts';
import {
  choiceParameter,
  enumerationParameter,
  flagParameter,
  idsParameter,
  integerParameter,
  momentParameter,
  named,
  numberedFrom0,
  parsedParameter,
  textsParameter,
} from '../platform/http/query-parameters.ts';
import type { CivilDuration } from '../points/point.ts';
import { AGGREGATE, GRANULARITY } from '../structure/catalogue/enumerations.ts';
import { findTimeZone } from '../structure/catalogue/time-zones.ts';
import { CURRENT, DURATION_RULE, parseDuration, parseRelative, RELATIVE_RULE } from './duration-rules.ts';
import type { TagPair } from './read-query.ts';

const text = (...examples: string[]) => z.string().meta({ examples });

/** Describes a parameter that takes an instant, a civil date and time, or a date alone. */
export function dateOfReadParameter(description: string): QueryParameter<ParsedMoment | undefined> {
  return momentParameter(
    `${description} A date without a zone is in the zone \`timeZoneId\`. Without \`timeZoneId\`, the zone of the source applies if the request reads exactly one source, otherwise UTC. The header \`Time-Zone\` of the answer names the zone. A date without a time is the first instant of that day.`,
  );
}

const timeZoneId = parsedParameter(
  'IANA or Windows time zone of `date` in the answer (in Parquet always UTC), of the buckets, and of days and months in a relative version or horizon. Default: UTC.',
  text('Europe/Brussels'),
  findTimeZone,
  'must be an IANA or Windows time zone',
);
const relativeVersion = parsedParameter(
  'Reads the state as it was stored this long ago. For example, `last 3 days` reads the state of three days ago: for each date, the newest version stored by then. It does not limit the read to the dates of the last three days. `Current` reads the latest state.',
  text('Current', 'last 3 days', 'P1M'),
  parseRelative,
  RELATIVE_RULE,
);
const horizon = parsedParameter(
  'Reads, for every date, the newest version stored at least this long before the date. An ISO 8601 duration.',
  text('PT24H', 'P1D'),
  parseDuration,
  DURATION_RULE,
);

/**
 * Splits a tag `key:value` at the first colon. A tag whose key contains a colon can be given only in a body, as a
 * member of the object `tags`.
 */
const tags: QueryParameter<readonly TagPair[]> = {
  description: 'Only versions with all of these tags, each as `key:value`.',
  schema: z.array(z.string()),
  read: (values, locationOf) =>
    values.flatMap(({ text }, index): readonly TagPair[] => {
      if (text === '') return [];
      const colon = text.indexOf(':');
      if (colon < 1) throw locationError(locationOf(index), `must be key:value, got ${JSON.stringify(text)}`);
      return [[text.slice(0, colon), text.slice(colon + 1)]];
    }),
};

export const PERIOD = {
  from: dateOfReadParameter('Start of the period, inclusive.'),
  to: dateOfReadParameter('End of the period, exclusive.'),
  includeToBoundary: flagParameter('Makes `to` inclusive.'),
};
export const SHAPE = {
  unitId: integerParameter(
    'Converts values into this unit, which must be of the same family as the unit of the variable.',
    { min: 1 },
  ),
  timeZoneId,
  format: choiceParameter('Format of the answer; takes precedence over the header `Accept`.', [
    'json',
    'csv',
    'arrow',
    'xlsx',
    'parquet',
  ]),
  pagingOrder: enumerationParameter('Order by date.', numberedFrom0(['ASC', 'DESC']), 'ASC'),
  ...PAGING,
};

/** Query parameters of `GET /data`. */
export const READ_QUERY = declareQuery(
  {
    variableIds: named(idsParameter('Ids of variables to read.'), 'variableId'),
    sourceIds: named(idsParameter('Reads every variable of these sources.'), 'sourceId'),
    ...PERIOD,
    version: textsParameter('Only versions with one of these VersionTags.'),
    asOf: dateOfReadParameter(
      'Reads the state as it was stored at this instant: for each date, the newest version stored at or before the instant.',
    ),
    relativeVersion,
    horizon,
    versions: choiceParameter(
      '`all` returns every matching version, `latest` only the newest of each date.',
      ['latest', 'all'],
      'latest',
    ),
    tags,
    granularity: enumerationParameter(
      'Length of the buckets. Buckets of a day or longer follow the calendar of `timeZoneId`; weeks begin on Monday.',
      GRANULARITY,
      'Raw',
    ),
    aggregation: enumerationParameter(
      'Aggregate function for the points of a bucket. Default: the `aggregate` of each variable. If it is not set, the `quantityType` decides: SUM for Integrated, MAX for Cumulative and Maximum, MIN for Minimum, otherwise AVG.',
      AGGREGATE,
    ),
    fill: choiceParameter(
      'How empty buckets are filled. `none` leaves them out of the answer. With the granularity `All`, nothing is filled.',
      ['none', 'previous', 'linear', 'null'],
      'none',
    ),
    minCount: integerParameter(
      'Minimum number of points in a bucket; a bucket with fewer points is treated as empty.',
      { min: 1 },
    ),
    displayLevel: enumerationParameter(
      '`ValueVariableDate` limits rows to variable, date and value. `Columns` writes JSON by columns: an object has rows of one variable; ids are single values, the other members are arrays. A variable with many rows has several objects. In other formats, `Columns` has the same effect as `Normal`.',
      numberedFrom0(['Normal', 'ValueVariableDate', 'Columns']),
      'Normal',
    ),
    ...SHAPE,
  },
  { isListing: true },
);

/** Query parameters of `POST /data`: only `format`, so that the URL of a download can name its format (R-A13). */
export const FORMAT_QUERY = declareQuery({ format: SHAPE.format });

/**
 * Parses the IANA or Windows time zone of a request without a query string, such as a gRPC request.
 * @returns the IANA name; undefined when `name` is absent.
 * @throws {DomainError} invalid_input with `location`, for an unknown zone.
 */
export function parseTimeZone(name: string | undefined, location: InputLocation): string | undefined {
  return readText(timeZoneId, name, location);
}

/**
 * Parses the relative version of a request without a query string, such as a gRPC request (R-G2).
 * @returns undefined when `given` is absent or `Current`, which is the default.
 * @throws {DomainError} invalid_input with `location`, when `given` is not a relative version.
 */
export function parseRelativeVersion(given: string | undefined, location: InputLocation): CivilDuration | undefined {
  return durationOf(readText(relativeVersion, given, location));
}

/**
 * @returns `relative`; undefined if `relative` is `Current`, because `Current` has the same effect as an absent
 * parameter.
 */
export function durationOf(relative: CivilDuration | typeof CURRENT | undefined): CivilDuration | undefined {
  return relative === CURRENT ? undefined : relative;
}

/**
 * Parses the horizon of a request without a query string, such as a gRPC request (R-G2).
 * @returns undefined when `given` is absent.
 * @throws {DomainError} invalid_input with `location`, when `given` is not a horizon.
 */
export function parseHorizon(given: string | undefined, location: InputLocation): CivilDuration | undefined {
  return readText(horizon, given, location);
}

function readText<Value>(parameter: QueryParameter<Value>, given: string | undefined, location: InputLocation): Value {
  return parameter.read(given === undefined ? [] : [{ name: '', text: given }], () => location);
}
