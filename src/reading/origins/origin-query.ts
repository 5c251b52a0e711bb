/** Query parameters of `GET /data/origins`: a variable and VersionTimestamps. */
import { z } from 'zod';
import { MOMENT_RULE, parseMoment } from '../../platform/dates/date-rules.ts';
import { locationError } from '../../platform/http/input-location.ts';
import { declareQuery, type QueryParameter } from '../../platform/http/query.ts';
import { integerParameter, required } from '../../platform/http/query-parameters.ts';
import { instantSchema } from '../../platform/openapi/operation.ts';
import type { Micros } from '../../points/point.ts';

const MAX_VERSIONS = 100;

const versionTimestamps: QueryParameter<readonly Micros[]> = {
  description: `VersionTimestamp of a version of the variable, as a read returned it. May be given up to ${MAX_VERSIONS} times.`,
  schema: z.array(instantSchema).min(1).max(MAX_VERSIONS),
  isRequired: true,
  read: (values, locationOf) => {
    if (values.length === 0) throw locationError(locationOf(), 'is required');
    if (values.length > MAX_VERSIONS) {
      throw locationError(locationOf(), `must be given at most ${MAX_VERSIONS} times, got ${values.length}`);
    }
    return values.map(({ text }, index) => {
      const moment = parseMoment(text);
      if (moment && !moment.isLocal) return moment.micros;
      const rule = moment ? 'must have a time zone, such as Z' : MOMENT_RULE;
      throw locationError(locationOf(index), `${rule}, got ${JSON.stringify(text)}`);
    });
  },
};

export const ORIGIN_QUERY = declareQuery({
  variableId: required(integerParameter('The variable.', { min: 1 })),
  versionTimestamps,
});
