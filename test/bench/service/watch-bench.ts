/**
 * Measures the delay from the start of a push request until a client has the pushed reading. The measured client is
 * alternately one that uses `WatchPoints` and one that polls over REST. The delays are measured first without other
 * watches, then alongside a thousand idle watches. The benchmark also measures the CPU time of the idle watches. One
 * process runs the roles api, ingester and grpc.
 */
import { readFileSync } from 'node:fs';
import { createGrpcReader, type GrpcReader } from '../../support/clients/grpc-client.ts';
import { openWatcher, type Watcher } from '../../support/clients/watcher.ts';
import type { ApiClient } from '../../support/fixtures/sign-in.ts';
import { createSiteAndSource, createVariable } from '../../support/fixtures/structure.ts';
import { type Figure, figure } from '../report.ts';

const ROUNDS = 5;
const PUSHES = 20;
const WATCHES = 1000;
const VARIABLES = 100;
const IDLE_MS = 10_000;
/** Maximum CPU time of all idle watches together, in milliseconds per second. */
const ALLOWED_IDLE_MS = 50;
const TICKS_PER_SECOND = 100;

/** Settings of the measured process. */
export const WATCH_ENVIRONMENT = { WATCH_MAX_PER_USER: String(2 * WATCHES) };

interface WatchService {
  readonly api: ApiClient;
  readonly grpc: string;
  readonly pid: number;
}

type Pair = readonly [ours: number, limit: number];

export async function benchWatch({ api, grpc, pid }: WatchService): Promise<readonly Figure[]> {
  const reader = createGrpcReader(grpc, api.token);
  const { sourceId } = await createSiteAndSource(api);
  const variableIds: number[] = [];
  for (let count = 0; count < VARIABLES; count += 1) variableIds.push(await createVariable(api, sourceId));
  const watched = await createVariable(api, sourceId);
  try {
    const idleBefore = await idleMs(pid);
    const alone = await measureDelays(api, reader, watched, 0);
    const others = await openMany(reader, variableIds);
    const idle = await idleMs(pid);
    const beside = await measureDelays(api, reader, watched, 2 * (ROUNDS + 1) * PUSHES);
    for (const other of others) other.cancel();
    const of = 'of the time until it can be read over REST';
    return [
      figure('push of one reading until its message of WatchPoints, median', of, 'ms', alone.medians),
      figure('push of one reading until its message of WatchPoints, p95', of, 'ms', alone.p95s),
      figure(`the same push beside ${WATCHES} idle watches, p95`, of, 'ms', beside.p95s),
      figure(
        `CPU time per second for ${WATCHES} idle watches of ${VARIABLES} variables each`,
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

/** @param firstValue value of the first point. Each further value is greater by one. */
async function measureDelays(api: ApiClient, reader: GrpcReader, variableId: number, firstValue: number) {
  const watcher = openWatcher(reader, { variableIds: [variableId] });
  await watcher.begun();
  const medians: Pair[] = [];
  const p95s: Pair[] = [];
  // The first round warms up both clients.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const watched: number[] = [];
    const asked: number[] = [];
    for (let push = 0; push < PUSHES; push += 1) {
      const value = firstValue + 2 * (round * PUSHES + push);
      watched.push(await measurePush(api, variableId, value, async () => watcher.points().at(-1)?.value === value));
      asked.push(await measurePush(api, variableId, value + 1, () => isReadable(api, variableId, value + 1)));
      await watcher.until(value + 2 - firstValue);
    }
    if (round === 0) continue;
    medians.push([share(watched, 0.5), share(asked, 0.5)]);
    p95s.push([share(watched, 0.95), share(asked, 0.95)]);
  }
  watcher.cancel();
  return { medians, p95s };
}

/** @param part fraction that selects the quantile: 0.5 for the median. @returns the quantile of the values. */
function share(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * part) - 1] ?? Number.NaN;
}

/** @returns the milliseconds from the start of the push request until `isThere` finds the value. */
async function measurePush(
  api: ApiClient,
  variableId: number,
  value: number,
  isThere: () => Promise<boolean>,
): Promise<number> {
  const date = new Date(Date.UTC(2026, 0, 1, 0, value)).toISOString();
  const startMs = performance.now();
  await api.call('POST', '/api/data', [{ variableId, data: [{ date, value }] }]);
  while (!(await isThere())) await new Promise((resolve) => setTimeout(resolve, 1));
  return performance.now() - startMs;
}

async function isReadable(api: ApiClient, variableId: number, value: number): Promise<boolean> {
  const query = `variableId=${variableId}&pageNumber=0&itemsPerPage=1&pagingOrder=DESC`;
  const [last] = await api.call<readonly { readonly rawValue: number }[]>('GET', `/data?${query}`);
  return last?.rawValue === value;
}

/** @returns the CPU time that the process uses while it is idle, in milliseconds per second. */
async function idleMs(pid: number): Promise<number> {
  const startTicks = readTicks(pid);
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  return (((readTicks(pid) - startTicks) / TICKS_PER_SECOND) * 1000) / (IDLE_MS / 1000);
}

/**
 * @returns user and system time in ticks: fields 14 and 15 of proc_pid_stat(5). The process name (field 2) may contain
 *   spaces, so the function counts from the end of this name.
 */
function readTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}
