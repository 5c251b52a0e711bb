/**
 * Accepts a parsed push: resolves targets, makes instants of local dates, encodes the readings and stores the batch.
 * When it returns, the batch is committed; everything after is the ingester's (R-D1).
 */
import type { Caller } from '../identity/caller.ts';
import { type Database, type Transaction, withTransaction } from '../platform/database.ts';
import type { Dictionary } from '../points/dictionary.ts';
import { encodeReadings } from '../points/encode-readings.ts';
import { findLabelIds } from '../points/find-label-ids.ts';
import { formatInstant } from '../points/instant-rules.ts';
import type { Labels } from '../points/label-rules.ts';
import type { PointEntry } from '../points/point.ts';
import { localClock } from '../structure/time-zones.ts';
import { labelReadings } from './label-readings.ts';
import type { PushElement, Reading } from './push-element.ts';
import { resolveTargets, type Target, type Unresolved } from './resolve-targets.ts';

export interface Rejection {
  /** Place of the element in the body. */
  readonly index: number;
  readonly code: Unresolved['code'];
  readonly message: string;
}

export interface PushWarning {
  readonly path: string;
  readonly code: 'ambiguous_local_date' | 'skipped_local_date';
  readonly message: string;
}

export interface PushOutcome {
  readonly accepted: { readonly elements: number; readonly readings: number };
  readonly rejected: readonly Rejection[];
  /** The first 100 dates that met a change of the clock (R-D4). */
  readonly warnings: readonly PushWarning[];
}

export interface PushContext {
  readonly caller: Caller;
  /** operationId as the client knows it. */
  readonly label: string;
  readonly requestId: string;
}

const MAX_WARNINGS = 100;

// Pushes of one user take effect in the order in which they are answered (R-D6): the place is taken last, under a lock
// that ends with the commit, however long the readings took to be stored.
export const TAKE_PLACE = `
  with turn as materialized (select pg_advisory_xact_lock(hashtextextended($1, 0)) as lock)
  update push_batch set place = nextval('push_batch_place') from turn where id = $2`;

/** @returns what was accepted, durably, and what could not be mapped. */
export async function acceptPush(
  database: Database,
  dictionary: Dictionary,
  context: PushContext,
  elements: readonly PushElement[],
): Promise<PushOutcome> {
  const targets = await resolveTargets(
    database,
    context.caller,
    elements.map((element) => element.target),
  );
  const rejected = targets.flatMap((target, index) => ('code' in target ? [{ index, ...target }] : []));
  const { entries, warnings } = await toEntries(dictionary, context.caller.accountId, elements, targets);
  const accepted = { elements: elements.length - rejected.length, readings: entries.length };
  await storeBatch(database, context, { accepted, rejected, warnings }, entries);
  return { accepted, rejected, warnings };
}

interface LabelledReading {
  readonly variableId: number;
  readonly dateMicros: number;
  readonly value: number;
  readonly labels: Labels;
}

async function toEntries(
  dictionary: Dictionary,
  accountId: number,
  elements: readonly PushElement[],
  targets: readonly (Target | Unresolved)[],
): Promise<{ readonly entries: readonly PointEntry[]; readonly warnings: readonly PushWarning[] }> {
  const labelled: LabelledReading[] = [];
  const warnings: PushWarning[] = [];
  for (const [index, element] of elements.entries()) {
    const target = targets[index];
    if (!target || 'code' in target) continue;
    const labelsOf = labelReadings(element);
    const instantOf = instants(target, `$[${index}].data`, warnings);
    for (const [place, reading] of element.readings.entries()) {
      const dateMicros = instantOf(reading, place);
      labelled.push({ variableId: target.variableId, dateMicros, value: reading.value, labels: labelsOf(reading) });
    }
  }
  const idsOf = await findLabelIds(dictionary, accountId, new Set(labelled.map(({ labels }) => labels)));
  const entries = labelled.map(({ labels, ...entry }) => ({ ...entry, ...idsOf(labels) }));
  return { entries, warnings };
}

/** The instant of each reading's date; collects a warning where the local clock was changed (R-D4). */
function instants({ timeZoneId }: Target, path: string, warnings: PushWarning[]) {
  return ({ date }: Reading, place: number): number => {
    if (!date.isLocal) return date.micros;
    const { micros, kind } = localClock(timeZoneId)(date.micros);
    if (kind !== 'exact' && warnings.length < MAX_WARNINGS) {
      const local = formatInstant(date.micros).replace('Z', '');
      const what = kind === 'ambiguous' ? 'occurs twice; the later instant' : 'does not exist; the time after the gap';
      warnings.push({
        path: `${path}[${place}].date`,
        code: `${kind}_local_date`,
        message: `${local} in ${timeZoneId} ${what}, ${formatInstant(micros)}, was taken`,
      });
    }
    return micros;
  };
}

async function storeBatch(
  database: Database,
  context: PushContext,
  outcome: PushOutcome,
  entries: readonly PointEntry[],
): Promise<void> {
  const rows = encodeReadings(entries);
  await withTransaction(database, async (transaction) => {
    const operationId = await insertOperation(transaction, context, outcome);
    if (entries.length === 0) return;
    const { accountId, userId } = context.caller;
    const { rows: batches } = await transaction.query<{ id: number }>(
      'insert into push_batch (operation_id, account_id, rows) values ($1, $2, $3) returning id',
      [operationId, accountId, rows],
    );
    await transaction.query(TAKE_PLACE, [`${accountId} ${userId}`, batches[0]?.id]);
  });
}

async function insertOperation(
  transaction: Transaction,
  { caller, label, requestId }: PushContext,
  { accepted, rejected }: PushOutcome,
): Promise<number> {
  const state = accepted.readings === 0 ? 'Completed' : 'Queued';
  const { rows } = await transaction.query<{ id: number }>(
    `insert into push_operation (account_id, user_id, label, request_id, state, accepted_elements, accepted_readings,
                                 rejected, completed_date)
     values ($1, $2, $3, $4, $5, $6, $7, $8, case when $5 = 'Completed' then clock_timestamp() end) returning id`,
    [
      ...[caller.accountId, caller.userId, label, requestId, state],
      ...[accepted.elements, accepted.readings, JSON.stringify(rejected)],
    ],
  );
  const [operation] = rows;
  if (!operation) throw new Error('the operation was not inserted');
  return operation.id;
}
