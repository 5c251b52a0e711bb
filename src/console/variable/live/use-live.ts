/**
 * Keeps an open chart up to date. New points are added to lines of the latest raw points without a read from the API.
 * A few seconds later, `refresh` reads the data that the browser cannot compute from new points.
 */
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { type CursorHolder, follow, type LiveState } from './follow.ts';
import { LivePoints } from './live-points.ts';

/** Delay from the first point of a burst to the drawing. Points that arrive during the delay are drawn too. */
const DRAW_MS = 250;
/** Delay from the first point of a burst to the call of `refresh`. */
const REFRESH_MS = 5000;

export interface Live {
  readonly state: LiveState;
  readonly points: LivePoints;
  /** Increases when the chart must be drawn again. */
  readonly revision: number;
}

/** Follows the new points of variables while the page is open. @param variableIds ids of at most 250 variables. */
export function useLive(variableIds: readonly number[]): Live {
  const queries = useQueryClient();
  const [points] = useState(() => new LivePoints());
  const [holder] = useState<CursorHolder>(() => ({ cursor: undefined }));
  const [followed] = useState(() => new Set<number>());
  const [state, setState] = useState<LiveState>('connecting');
  const [revision, setRevision] = useState(0);
  const key = variableIds.join(',');
  useEffect(() => {
    const ids = key.split(',').map(Number);
    const begin = () => {
      // Reads the points of newly followed variables again, because points may have been committed since the chart's
      // first read.
      for (const id of ids.filter((each) => !followed.has(each)))
        void queries.invalidateQueries({ queryKey: ['points', id] });
      for (const id of ids) followed.add(id);
    };
    const later = openTimers(queries, ids, points, () => setRevision((count) => count + 1));
    const stop = follow(ids, holder, {
      onPoints: (columns) => {
        points.add(columns);
        later.note();
      },
      onState: (next) => {
        setState(next);
        if (next === 'live') begin();
      },
    });
    return () => {
      stop();
      later.stop();
    };
  }, [key, queries, points, holder, followed]);
  return useMemo(() => ({ state, points, revision }), [state, points, revision]);
}

/**
 * Creates the timers. Call `note` after each new point: the chart is then drawn within DRAW_MS, and `refresh` is called
 * within REFRESH_MS.
 */
function openTimers(queries: QueryClient, ids: readonly number[], points: LivePoints, draw: () => void) {
  let [drawing, refreshing] = [undefined, undefined] as (ReturnType<typeof setTimeout> | undefined)[];
  let isReading = false;
  const drawNow = () => {
    drawing = undefined;
    draw();
    // One read at a time: a second `points.turn()` would drop the older generation before the chart has read the points
    // of that generation.
    if (isReading || !points.isFull()) return;
    isReading = true;
    void readAgain(queries, ids, points).then(() => {
      isReading = false;
      draw();
    });
  };
  const refreshNow = () => {
    refreshing = undefined;
    for (const id of ids) void refresh(queries, id);
  };
  return {
    note: () => {
      drawing ??= setTimeout(drawNow, DRAW_MS);
      refreshing ??= setTimeout(refreshNow, REFRESH_MS);
    },
    stop: () => {
      clearTimeout(drawing);
      clearTimeout(refreshing);
    },
  };
}

async function readAgain(queries: QueryClient, ids: readonly number[], points: LivePoints): Promise<void> {
  const drop = points.turn();
  await Promise.all(ids.map((id) => queries.invalidateQueries({ queryKey: ['points', id] })));
  drop();
}

/** Reads again the data that the browser cannot compute from new points, such as buckets and runs. */
async function refresh(queries: QueryClient, id: number): Promise<void> {
  const isDerived = ([, , , , side, resolution]: readonly unknown[]) =>
    resolution !== 'Raw' || String(side).startsWith('label:');
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['points', id], predicate: ({ queryKey }) => isDerived(queryKey) }),
    ...['versions', 'point', 'runs', 'compare'].map((name) => queries.invalidateQueries({ queryKey: [name, id] })),
  ]);
}
