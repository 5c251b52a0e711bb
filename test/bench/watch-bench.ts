/**
 * How soon a reader of `WatchPoints` has what is pushed, from the request of a push of one reading to the message over gRPC,
 * alone and beside a thousand other watches; and what those cost while nothing happens. By one process of all roles.
 */
import { readFileSync } from 'node:fs';
import { createGrpcReader, type GrpcReader } from '../support/grpc-client.ts';
import { type ApiClient, createSource, createVariable } from '../support/manager.ts';
import { openWatcher, type Watcher } from '../support/watcher.ts';
import { type Figure, figure } from './report.ts';

const ROUNDS = 5;
const PUSHES = 20;
const WATCHES = 1000;
const VARIABLES = 100;
const IDLE_MS = 10_000;
const ALLOWED_MS = 100;
/** Of a core, in milliseconds a second. */
const ALLOWED_IDLE_MS = 50;
const TICKS_PER_SECOND = 100;

/** Settings of the process that is measured. */
export const WATCH_ENVIRONMENT = { WATCH_MAX_PER_USER: String(2 * WATCHES) };

interface WatchService {
  readonly api: ApiClient;
  readonly grpc: string;
  readonly pid: number;
}

type Pair = readonly [ours: number, limit: number];

export async function benchWatch({ api, grpc, pid }: WatchService): Promise<readonly Figure[]> {
  const reader = createGrpcReader(grpc, api.token);
  const { sourceId } = await createSource(api);
  const variableIds: number[] = [];
  for (let count = 0; count < VARIABLES; count += 1) variableIds.push(await createVariable(api, sourceId));
  const watched = await createVariable(api, sourceId);
  try {
    const idleBefore = await idleMs(pid);
    const alone = await measureDelays(api, reader, watched, 0);
    const others = await openMany(reader, variableIds);
    const idle = await idleMs(pid);
    const beside = await measureDelays(api, reader, watched, 1);
    for (const other of others) other.cancel();
    const of = `of the ${ALLOWED_MS} ms allowed`;
    return [
      figure('push of one reading until its message of WatchPoints, median', of, 'ms', alone.medians),
      figure('push of one reading until its message of WatchPoints, p95', of, 'ms', alone.p95s),
      figure(`the same beside ${WATCHES} idle watches, p95`, of, 'ms', beside.p95s),
      figure(
        `computing time a second for ${WATCHES} idle watches of ${VARIABLES} variables each`,
        `of the ${ALLOWED_IDLE_MS} ms allowed`,
        'ms',
        [[Math.max(0, idle - idleBefore), ALLOWED_IDLE_MS]],
      ),
    ];
  } finally {
    reader.close();
  }
}

async function openMany(reader: GrpcReader, variableIds: readonly number[]): Promise<readonly Watcher[]> {
  const watchers = Array.from({ length: WATCHES }, () => openWatcher(reader, { variableIds }));
  for (const watcher of watchers) await watcher.begun();
  return watchers;
}

async function measureDelays(api: ApiClient, reader: GrpcReader, variableId: number, series: number) {
  const watcher = openWatcher(reader, { variableIds: [variableId] });
  await watcher.begun();
  const medians: Pair[] = [];
  const p95s: Pair[] = [];
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const delays: number[] = [];
    for (let push = 0; push < PUSHES; push += 1) {
      delays.push(await measureDelay(api, watcher, variableId, (series * (ROUNDS + 1) + round) * PUSHES + push));
    }
    delays.sort((a, b) => a - b);
    if (round === 0) continue;
    medians.push([delays[PUSHES >> 1] ?? Number.NaN, ALLOWED_MS]);
    p95s.push([delays[Math.ceil(PUSHES * 0.95) - 1] ?? Number.NaN, ALLOWED_MS]);
  }
  watcher.cancel();
  return { medians, p95s };
}

async function measureDelay(api: ApiClient, watcher: Watcher, variableId: number, minute: number): Promise<number> {
  const seen = watcher.points().length;
  const date = new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
  const startMs = performance.now();
  await api.call('POST', '/api/data', [{ variableId, data: [{ date, value: minute }] }]);
  while (watcher.points().length === seen) await new Promise((resolve) => setTimeout(resolve, 1));
  return performance.now() - startMs;
}

/** Computing time of a process, in milliseconds a second, while nothing is asked of it. */
async function idleMs(pid: number): Promise<number> {
  const startTicks = readTicks(pid);
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  return (((readTicks(pid) - startTicks) / TICKS_PER_SECOND) * 1000) / (IDLE_MS / 1000);
}

/** User and system time (proc_pid_stat(5), fields 14 and 15; the name before them may hold blanks). */
function readTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}
