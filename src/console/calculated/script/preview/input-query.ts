/** Builds the query for the points that a chart shows of an input of a script. */
import type { components } from '../../../api/openapi.d.ts';
import { planResolution } from '../../../variable/chart-rules.ts';

type Read = components['schemas']['Evaluation']['inputs'][number];

/**
 * Margin on either side of a window, as a fraction of the window's length. The margin is at least ten steps of the
 * input's variable (`stepOf`).
 */
const MARGIN = 0.5;

/**
 * @returns the query for the points in the window of an input, with a margin on each side. If the input selects several
 *   VersionTags, the query selects only the first VersionTag.
 */
export function queryOf({ variableId, from, to, version, asOf, horizon, tags }: Read, stepSec: number) {
  const [begin, end] = [from === null ? Number.NaN : Date.parse(from), to === null ? Number.NaN : Date.parse(to)];
  const isOpen = Number.isNaN(end - begin);
  const margin = Math.max(isOpen ? 0 : (end - begin) * MARGIN, stepSec * 10_000);
  const range = { from: (begin - margin) / 1000, to: (end + margin) / 1000 };
  const resolution = isOpen ? 'Raw' : planResolution(range, stepSec);
  const label = typeof version === 'string' ? version : version?.[0];
  return {
    variableIds: variableId,
    ...(!Number.isNaN(begin) && { from: new Date(begin - margin).toISOString() }),
    ...(!Number.isNaN(end) && { to: new Date(end + margin).toISOString() }),
    ...(label !== undefined && { version: label }),
    ...{ asOf, horizon, tags },
    ...(resolution !== 'Raw' && { granularity: resolution, aggregation: 'AVG' }),
  };
}
