/** `ListRuns` (R-H8, R-J1) streams the runs that `GET /variables/{id}/runs` lists, one message for each run. */
import type { InputRecord } from '../calculation/inputs/load-inputs.ts';
import type { FormulaRecord } from '../calculation/run/compute.ts';
import { DEFAULT_PAGE, listRuns, pageOfRuns, type RunRecord } from '../calculation/run/runs.ts';
import type { Caller } from '../identity/caller/caller.ts';
import { type Database, streamInSnapshot, type Transaction } from '../platform/database/database.ts';
import type { ReadPool } from '../platform/database/read-pool.ts';
import { readBatches } from '../platform/streaming/stream-listing.ts';
import { getResource } from '../structure/resource.ts';
import { VARIABLE } from '../structure/variable.ts';
import { type Counted, type StreamServices, streamHandler } from './answer.ts';
import { toMicros } from './instants.ts';
import { type PagingMessage, toPaging } from './read-request.ts';

interface ListRunsMessage extends PagingMessage {
  readonly variableId: number;
}

const MAX_PAGE = 1000;

interface ListRunsServices extends StreamServices {
  readonly database: Database;
  readonly reads: ReadPool;
}

/** Handles `ListRuns` (R-H8, R-J1). */
export function listRunsHandler(services: ListRunsServices) {
  return streamHandler(services, 'ListRuns', (caller, message: ListRunsMessage, signal) =>
    runsOf(services, caller, message, signal),
  );
}

async function* runsOf(
  { database, reads }: ListRunsServices,
  caller: Caller,
  message: ListRunsMessage,
  signal: AbortSignal,
): AsyncGenerator<Counted<Readonly<Record<string, unknown>>>> {
  const paging = toPaging(message, { most: MAX_PAGE, usual: DEFAULT_PAGE });
  const { id } = await getResource(database, VARIABLE, caller, message.variableId);
  const listing = listRuns(caller, id);
  // Turns off reading ahead. Its memory limit counts a batch of runs as 512 bytes, because runs have no typed arrays.
  const { ahead: _ahead, ...source } = reads.of(caller.accountId);
  const read = (transaction: Transaction) => readBatches(transaction, listing, pageOfRuns(paging));
  for await (const runs of streamInSnapshot(source, read, signal)) {
    for (const run of runs) yield { message: toRun(run), count: 1 };
  }
}

/** Members that have one name or type in a stored run, and another in the gRPC message. */
interface Details {
  readonly from: string;
  readonly to: string;
  readonly triggerDate: string;
  readonly requestedDate: string;
  readonly startedDate: string;
  readonly finishedDate: string | null;
  readonly formulas: readonly FormulaRecord[];
  readonly inputs: readonly InputRecord[];
}

function toRun(record: RunRecord): Readonly<Record<string, unknown>> {
  const { formulas, inputs, ...run } = record as RunRecord & Details;
  return {
    ...present(run),
    fromMicros: toMicros(run.from),
    toMicros: toMicros(run.to),
    triggerDateMicros: toMicros(run.triggerDate),
    requestedMicros: toMicros(run.requestedDate),
    startedMicros: toMicros(run.startedDate),
    ...(run.finishedDate !== null && { finishedMicros: toMicros(run.finishedDate) }),
    notes: present((run.notes ?? {}) as object),
    formulas: formulas.map(toFormula),
    inputs: inputs.map(toInput),
  };
}

function toFormula({ formula, from, to, triggerDate, forms }: FormulaRecord): object {
  return {
    formula,
    fromMicros: toMicros(from),
    toMicros: toMicros(to),
    triggerDateMicros: toMicros(triggerDate),
    formsJson: JSON.stringify(forms),
  };
}

function toInput(record: InputRecord): object {
  const { from, to, version, asOf, lastVersionTimestamp, historyFrom, rawFrom, ...input } = record;
  return {
    ...present(input),
    ...(from !== null && { fromMicros: toMicros(from) }),
    ...(to !== null && { toMicros: toMicros(to) }),
    versions: version === undefined ? [] : [version].flat(),
    ...(asOf !== undefined && { asOfMicros: toMicros(asOf) }),
    ...(lastVersionTimestamp !== null && { lastVersionTimestampMicros: toMicros(lastVersionTimestamp) }),
    ...(historyFrom !== undefined && { historyFromMicros: toMicros(historyFrom) }),
    ...(rawFrom !== undefined && { rawFromMicros: toMicros(rawFrom) }),
  };
}

/** Removes members that are null or undefined: proto3 has no null. */
function present(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined));
}
