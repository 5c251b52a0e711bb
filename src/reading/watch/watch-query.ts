/** Declares the parameters of `GET /data/watch` (R-J1). */
import { z } from 'zod';
import { declareQuery } from '../../platform/http/query.ts';
import { flagParameter, named, textParameter } from '../../platform/http/query-parameters.ts';
import { READ_QUERY } from '../../selection/read-parameters.ts';

/**
 * Maximum number of variables per stream. The cursor grows with this number. A browser sends the cursor back in a
 * header, and Node accepts at most 16 KiB of headers.
 */
export const MAX_STREAM_VARIABLES = 250;

/** Header in which a browser sends the id of the last event it received. */
export const LAST_EVENT_ID = 'Last-Event-ID';

const { variableIds, sourceIds, unitId } = READ_QUERY.parameters;

export const WATCH_QUERY = declareQuery(
  {
    variableIds: named(
      { ...variableIds, description: `${variableIds.description} At most ${MAX_STREAM_VARIABLES}.` },
      'variableId',
    ),
    sourceIds: named(
      { ...sourceIds, description: 'Selects every variable that these sources have at the time of the call.' },
      'sourceId',
    ),
    unitId,
    cursor: textParameter(
      `The id of the last event that the client received. The stream continues after this event. The header \`${LAST_EVENT_ID}\` takes precedence over this parameter. For a variable that the earlier stream did not include, points are sent as if the request had no event id.`,
      z.string().meta({ examples: ['AQEAAQCJiOVa'] }),
    ),
    fromBeginning: flagParameter(
      'Decides what the stream sends for variables that are not in the cursor; without a cursor, for all variables. `true`: all stored points, and then new points. `false`: only points committed after the call.',
    ),
  },
  { isListing: true },
);
