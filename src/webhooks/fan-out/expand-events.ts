/**
 * From events of the outbox to what receivers are told: one occurrence for each thing that happened, in the words of the
 * interface. Events that many things share are taken apart here, where somebody wants them, and not where they are written.
 */
import type { Transaction } from '../../platform/database/database.ts';
import type { OutboxEvent } from '../../platform/database/outbox.ts';
import type { Occurrence } from './filter-rules.ts';

type Data = Occurrence['data'];

interface WrittenVariable {
  readonly variableId: number;
}

// One event tells of many pushes, and one operation of several (sql/functions/push_operations.sql).
const EXPAND_PUSHES = `
  select given.place::int - 1 as place, told as data
  from unnest($1::jsonb[]) with ordinality given (operations, place)
  cross join lateral expand_push_operations(given.operations) with ordinality told (told, turn)
  order by given.place, turn`;

// What is deleted since is not found: it is told of by its own number alone.
const FIND_PLACES = `
  select variable.id as "variableId", variable.source_id as "sourceId", source.site_id as "siteId"
  from variable join source on source.id = variable.source_id where variable.id = any($1::int[])`;

/**
 * Looks up what the events need for it.
 * @returns the occurrences of one of the events, in their order; made only when asked for, since they may be large.
 */
export async function expandEvents(
  transaction: Transaction,
  events: readonly OutboxEvent[],
): Promise<(event: OutboxEvent) => readonly Occurrence[]> {
  const pushes = await expandPushes(transaction, events);
  const places = await findPlaces(transaction, events);
  return (event) => {
    const { accountId, type, createdDate } = event;
    const told = pushes.get(event) ?? [toData(event, places)];
    return told.map((data) => ({ accountId, type, date: createdDate, data }));
  };
}

async function expandPushes(
  transaction: Transaction,
  events: readonly OutboxEvent[],
): Promise<ReadonlyMap<OutboxEvent, readonly Data[]>> {
  const pushes = events.filter(({ type }) => type === 'DataPushCompleted');
  if (pushes.length === 0) return new Map();
  const { rows } = await transaction.query<{ place: number; data: Data }>(EXPAND_PUSHES, [
    pushes.map(({ payload }) => JSON.stringify((payload as { operations: unknown }).operations)),
  ]);
  const byPlace = Map.groupBy(rows, ({ place }) => place);
  return new Map(pushes.map((event, place) => [event, (byPlace.get(place) ?? []).map(({ data }) => data)]));
}

async function findPlaces(
  transaction: Transaction,
  events: readonly OutboxEvent[],
): Promise<ReadonlyMap<number, Data>> {
  const writes = events.filter(({ type }) => type === 'DataPointsWritten');
  const ids = new Set(writes.flatMap((event) => readVariables(event).map(({ variableId }) => variableId)));
  if (ids.size === 0) return new Map();
  const { rows } = await transaction.query<WrittenVariable & Data>(FIND_PLACES, [[...ids]]);
  return new Map(rows.map((place) => [place.variableId, place]));
}

function toData(event: OutboxEvent, places: ReadonlyMap<number, Data>): Data {
  if (event.type !== 'DataPointsWritten') return event.payload as Data;
  // The wave is a matter between calculations.
  return { variables: readVariables(event).map((variable) => ({ ...places.get(variable.variableId), ...variable })) };
}

function readVariables({ payload }: OutboxEvent): readonly WrittenVariable[] {
  return (payload as { readonly variables: readonly WrittenVariable[] }).variables;
}
