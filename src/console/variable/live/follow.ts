/**
 * Follows new points of variables by `GET /data/watch`. After an interruption, `follow` resumes after the last event
 * that it received. So, once the first event has arrived, `follow` misses no later point. When the API refuses
 * permanently, `follow` ends (state `off`).
 */
import { ApiError } from '../../api/client.ts';
import { fetchPoints } from '../../api/download.ts';
import { readEvents } from './event-reader.ts';

export type LiveState = 'connecting' | 'live' | 'waiting' | 'off';

/** Points of one variable, as columns of equal length. */
export interface LiveColumns {
  readonly variableId: number;
  readonly date: readonly string[];
  readonly rawValue: readonly (number | null)[];
  readonly versionTimestamp: readonly string[];
}

export interface Follower {
  onPoints(columns: readonly LiveColumns[]): void;
  onState(state: LiveState): void;
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** Three times the default of WATCH_HEARTBEAT_MS. A connection that is silent for longer counts as lost. */
const SILENT_MS = 90_000;
/**
 * When the event `end` has one of these codes, `follow` connects again. After `invalid_token`, `follow` sends the
 * renewed token.
 */
const PASSING = ['invalid_token', 'dependency_unavailable', 'rate_limited', 'internal_error'];

/**
 * Holds the cursor of the last event. A call of `follow` with the same holder continues after this event. For a
 * variable that is not in the cursor, `follow` gets only points committed after the new connection.
 */
export interface CursorHolder {
  cursor: string | undefined;
}

/** Follows new points of the variables by server-sent events. @returns a function that stops following. */
export function follow(variableIds: readonly number[], holder: CursorHolder, follower: Follower): () => void {
  const leaving = new AbortController();
  void run(variableIds, holder, follower, leaving.signal);
  return () => leaving.abort();
}

async function run(
  ids: readonly number[],
  holder: CursorHolder,
  follower: Follower,
  signal: AbortSignal,
): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    await untilVisible(signal);
    const outcome = await connect(ids, holder, follower, signal);
    if (signal.aborted) return;
    if (outcome === 'off') return follower.onState('off');
    pauseMs = outcome === 'begun' ? FIRST_PAUSE_MS : Math.min(2 * pauseMs, MAX_PAUSE_MS);
    follower.onState('waiting');
    await pause(pauseMs * (0.5 + Math.random()), signal);
  }
}

/**
 * Follows the variables over one connection, until the connection ends.
 * @returns one of:
 * - `off`: the caller must not connect again.
 * - `begun`: an event other than `end` arrived.
 * - `refused`: no event other than `end` arrived.
 */
async function connect(
  ids: readonly number[],
  holder: CursorHolder,
  follower: Follower,
  signal: AbortSignal,
): Promise<'begun' | 'refused' | 'off'> {
  const connection = new AbortController();
  const leave = () => connection.abort();
  const leaveHidden = () => document.hidden && leave();
  let silence = setTimeout(leave, SILENT_MS);
  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(leave, SILENT_MS);
  };
  signal.addEventListener('abort', leave);
  window.addEventListener('offline', leave);
  document.addEventListener('visibilitychange', leaveHidden);
  let outcome: 'begun' | 'refused' = 'refused';
  try {
    const query = { variableIds: ids.join(','), cursor: holder.cursor };
    const { body } = await fetchPoints('/data/watch', query, connection.signal);
    for await (const { event, id, data } of readEvents(body ?? new ReadableStream())) {
      if (signal.aborted) return outcome;
      heard();
      if (event === 'end') return PASSING.includes((data as { code: string }).code) ? outcome : 'off';
      holder.cursor = id ?? holder.cursor;
      if (outcome === 'refused') follower.onState('live');
      outcome = 'begun';
      if (event === 'points') follower.onPoints(data as LiveColumns[]);
    }
  } catch (error) {
    // With these statuses, the API would refuse the next call too.
    if (error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429) return 'off';
  } finally {
    clearTimeout(silence);
    connection.abort();
    window.removeEventListener('offline', leave);
    signal.removeEventListener('abort', leave);
    document.removeEventListener('visibilitychange', leaveHidden);
  }
  return outcome;
}

function untilVisible(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    document.addEventListener('visibilitychange', () => resolve(), { once: true, signal });
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Waits until `ms` milliseconds have passed, the browser has a network again, or `signal` is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = new AbortController();
    const end = () => {
      clearTimeout(timer);
      done.abort();
      resolve();
    };
    const timer = setTimeout(end, ms);
    window.addEventListener('online', end, { signal: done.signal });
    signal.addEventListener('abort', end, { signal: done.signal });
  });
}
