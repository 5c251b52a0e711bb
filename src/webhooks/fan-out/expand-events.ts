/**
 * Expands outbox events into occurrences, which contain the data that receivers get. A DataPushCompleted event becomes
 * one occurrence per push; any other event becomes one occurrence. An event that covers many pushes is split here and
 * not where it is written, so that only events with subscribers are split.
 */
import type { Transaction } from '../../platform/database/database.ts';
import type { OutboxEvent } from '../../platform/database/outbox.ts';
import { type Occurrence, readConcern } from './filter-rules.ts';

type Data = Occurrence['data'];

interface WrittenVariable {
  readonly variableId: number;
}

// One event lists many operations, and one listed operation may cover several pushes
// (sql/functions/push_operations.sql).
const EXPAND_PUSHES = `
  select given.ordinal::int - 1 as index, operation as data
  from unnest($1::jsonb[]) with ordinality given (operations, ordinal)
  cross join lateral expand_push_operations(given.operations) with ordinality expanded (operation, turn)
  order by given.ordinal, turn`;

// A variable that was deleted after the event has no row here, so the occurrence names neither its source nor its site.
const FIND_PARENTS = `
  select variable.id as "variableId", variable.source_id as "sourceId", source.site_id as "siteId"
  from variable join source on source.id = variable.source_id where variable.id = any($1::int[])`;

/**
 * Runs the queries that the events need.
 * @returns a function that takes one of the events and builds its occurrences, in order. The function does not build
 * the occurrences of all events at once, because together they may be too large for memory.
 */
export async function expandEvents(
  transaction: Transaction,
  events: readonly OutboxEvent[],
): Promise<(event: OutboxEvent) => readonly Occurrence[]> {
  const pushes = await expandPushes(transaction, events);
  const partsOf = (event: OutboxEvent) => pushes.get(event) ?? [event.payload as Data];
  const parents = await findParents(
    transaction,
    events.flatMap((event) => [
      ...(event.type === 'DataPointsWritten' ? readVariables(event).map(({ variableId }) => variableId) : []),
      ...partsOf(event).flatMap(({ concerns }) => (concerns as readonly number[] | undefined) ?? []),
    ]),
  );
  return (event) => {
    const { accountId, type, createdDate } = event;
    return partsOf(event).map((part) => ({
      accountId,
      type,
      date: createdDate,
      ...toOccurrence(event, part, parents),
    }));
  };
}

async function expandPushes(
  transaction: Transaction,
  events: readonly OutboxEvent[],
): Promise<ReadonlyMap<OutboxEvent, readonly Data[]>> {
  const pushes = events.filter((event) => event.type === 'DataPushCompleted');
  if (pushes.length === 0) return new Map();
  const { rows } = await transaction.query<{ index: number; data: Data }>(EXPAND_PUSHES, [
    pushes.map(({ payload }) => JSON.stringify(payload.operations)),
  ]);
  const byIndex = Map.groupBy(rows, ({ index }) => index);
  return new Map(pushes.map((event, index) => [event, (byIndex.get(index) ?? []).map(({ data }) => data)]));
}

async function findParents(transaction: Transaction, variableIds: readonly number[]): Promise<Parents> {
  const ids = new Set(variableIds);
  if (ids.size === 0) return new Map();
  const { rows } = await transaction.query<WrittenVariable & Data>(FIND_PARENTS, [[...ids]]);
  return new Map(rows.map((row) => [row.variableId, row]));
}

type Parents = ReadonlyMap<number, Data>;

function toOccurrence(event: OutboxEvent, part: Data, parents: Parents): Pick<Occurrence, 'data' | 'concerns'> {
  if (event.type === 'DataPointsWritten') {
    // Takes only `variables`: the other members of the payload, `wave` and `requestId`, are internal.
    const variables = readVariables(event);
    return { data: { variables: variables.map((variable) => ({ ...parents.get(variable.variableId), ...variable })) } };
  }
  const { concerns, ...data } = part;
  if (!concerns) return { data };
  const named = (concerns as readonly number[]).map((variableId) => ({ ...parents.get(variableId), variableId }));
  return { data, concerns: named.map((one) => readConcern('', one)) };
}

function readVariables({ payload }: OutboxEvent): readonly WrittenVariable[] {
  return (payload as { readonly variables: readonly WrittenVariable[] }).variables;
}
