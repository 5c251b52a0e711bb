/** Route `GET /data/compare` (R-G6): the values of two versions of a variable, their differences, and a summary. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Context, Hono } from 'hono';
import type { CallerEnv } from '../../identity/authentication/authenticate.ts';
import type { SnapshotSource } from '../../platform/database/database.ts';
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import { isTotalWanted, setTotalCount } from '../../platform/http/listing-response.ts';
import type { PointSelection } from '../../points/point.ts';
import { setDateZone, settleDates } from '../../selection/date-zone.ts';
import { type HistoryNotice, historyMetadata, openNotice } from '../../selection/history-notice.ts';
import { resolveVersion } from '../../selection/resolve-version.ts';
import { resolveSelection } from '../../selection/selection.ts';
import { answerTable } from '../answer-table.ts';
import type { ReadingServices } from '../data-routes.ts';
import { chooseFormat } from '../formats/formats.ts';
import { writeJson } from '../formats/json-table.ts';
import type { Batch, Column, Table } from '../formats/table.ts';
import { countedChunks } from '../read-metrics.ts';
import { type ComparedChunk, streamCompared } from './compare-points.ts';
import { type CompareRequest, parseCompareRequest } from './compare-request.ts';
import { type CompareCounter, compareCounter } from './compare-rules.ts';

/** Routes of `GET /data/compare` (R-G6). Mount at `/data/compare`. */
export function compareRoutes(services: ReadingServices): Hono<CallerEnv> {
  return new Hono<CallerEnv>().get('/', (c) => answerCompare(services, c));
}

async function answerCompare(services: ReadingServices, c: Context<CallerEnv>): Promise<Response> {
  const { database, readMetrics } = services;
  const source = services.reads.of(c.var.caller.accountId);
  const { request, dateZone } = await settleDates(database, c.var.caller, parseCompareRequest(c.req.url));
  const { selection, variables } = await resolveSelection(database, c.var.caller, request.left);
  setDateZone(c, dateZone);
  const right = { ...selection, version: await resolveVersion(database, request.right) };
  if (isTotalWanted(c)) setTotalCount(c, await countCompared(source, selection, right, c.req.raw.signal));
  const format = chooseFormat(request.format, c.req.header('accept'));
  const [[variableId, variable] = []] = variables;
  const notice = openNotice();
  const head = JSON.stringify({ variableId, unitId: variable?.unitId ?? null });
  return answerTable(
    c,
    format.contentType,
    (signal) => {
      const counter = compareCounter();
      const chunks = countedChunks(streamCompared(source, selection, right, signal, notice.note), readMetrics.points);
      const table = compareTable(chunks, counter, request, notice);
      return format.write === writeJson ? writeCompared(head, table, counter, notice) : format.write(table);
    },
    notice,
    services,
  );
}

/** @returns the number of dates at which at least one of the two versions has a value. */
async function countCompared(
  source: SnapshotSource,
  left: PointSelection,
  right: PointSelection,
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  for await (const { dates } of streamCompared(source, left, right, signal)) {
    count += dates.length;
    await nextTurn();
  }
  return count;
}

/** Builds the rows of the requested page; `counter` counts the rows of all pages. */
function compareTable(
  chunks: AsyncGenerator<ComparedChunk>,
  counter: CompareCounter,
  { limit = Number.POSITIVE_INFINITY, offset, timeZoneId }: CompareRequest,
  notice: HistoryNotice,
): Table {
  const columns: readonly Column[] = [
    { name: 'date', kind: 'instant', ...(timeZoneId !== undefined && { timeZoneId }) },
    { name: 'leftValue', kind: 'number' },
    { name: 'rightValue', kind: 'number' },
    { name: 'difference', kind: 'number' },
  ];
  const batches = pageOf(chunks, counter, offset, offset + limit);
  return { columns, batches, metadata: () => historyMetadata(notice) };
}

async function* pageOf(
  chunks: AsyncGenerator<ComparedChunk>,
  counter: CompareCounter,
  start: number,
  end: number,
): AsyncGenerator<Batch> {
  let seen = 0;
  for await (const { dates, left, right } of chunks) {
    counter.add(left, right);
    const [from, to] = [Math.max(start - seen, 0), Math.min(end - seen, dates.length)];
    seen += dates.length;
    if (from >= to) continue;
    const difference = right.map((value, index) => value - (left[index] ?? Number.NaN));
    const numbers = [left, right, difference].map((values) => ({
      kind: 'numbers' as const,
      values: values.slice(from, to),
    }));
    yield { rowCount: to - from, cells: [{ kind: 'instants', values: dates.slice(from, to) }, ...numbers] };
  }
}

/**
 * Writes `{"variableId":…,"unitId":…,"rows":[…],"summary":{…}}`. The summary follows the rows, because it is computed
 * while the rows are written. Adds `historyFrom` when a history cut concerns one of the two versions (R-F9), and
 * `rawFrom` when retention has replaced early points with rollups.
 */
async function* writeCompared(
  head: string,
  table: Table,
  counter: CompareCounter,
  notice: HistoryNotice,
): AsyncGenerator<Uint8Array> {
  let start = Buffer.from(`${head.slice(0, -1)},"rows":`);
  for await (const piece of writeJson(table)) {
    yield Buffer.concat([start, piece]);
    start = Buffer.alloc(0);
  }
  const [[cut], [raw]] = [notice.cuts, notice.rolledUp];
  const end = {
    summary: counter.summary(),
    ...(cut && { historyFrom: formatInstant(cut.historyFromMicros) }),
    ...(raw && { rawFrom: formatInstant(raw.rawFromMicros) }),
  };
  yield Buffer.from(`,${JSON.stringify(end).slice(1)}`);
}
