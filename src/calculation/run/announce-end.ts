/** Appends the event for the end of a run (R-I2), in the transaction that ends the run. */
import type { Transaction } from '../../platform/database/database.ts';

export interface EndedRun {
  readonly id: number;
}

/** Payload of `CalculationCompleted` and `CalculationFailed`, to which ANNOUNCE adds further members. */
interface CalculationEnded {
  readonly runId: number;
  readonly variableId: number;
}

declare module '../../platform/database/outbox.ts' {
  interface OutboxEvents {
    CalculationCompleted: CalculationEnded;
    CalculationFailed: CalculationEnded;
  }
}

const instant = (column: string) => `replace(to_jsonb(${column}) #>> '{}', '+00:00', 'Z')`;

// When the variable was deleted before its run ended, the event names the variable, but not its source and site.
const ANNOUNCE = `
  insert into outbox_event (account_id, type, payload)
  select run.account_id, $2, jsonb_strip_nulls(jsonb_build_object(
    'runId', run.id, 'variableId', run.variable_id, 'sourceId', variable.source_id, 'siteId', source.site_id,
    'trigger', run.trigger, 'from', ${instant('run.from_date')}, 'to', ${instant('run.to_date')},
    'outcome', run.outcome)) || jsonb_build_object('message', run.message)
  from calculation_run run
  left join variable on variable.id = run.variable_id left join source on source.id = variable.source_id
  where run.id = any($1::int8[])`;

/**
 * Appends `CalculationCompleted` or `CalculationFailed` to the outbox (R-I2).
 * @param run an ended run whose outcome is already stored in `calculation_run`.
 */
export async function announceEnd(
  transaction: Transaction,
  run: EndedRun,
  type: 'CalculationCompleted' | 'CalculationFailed',
): Promise<void> {
  await announceEnds(transaction, [run], type);
}

/** Announces the ends of several runs. */
export async function announceEnds(
  transaction: Transaction,
  runs: readonly EndedRun[],
  type: 'CalculationCompleted' | 'CalculationFailed',
): Promise<void> {
  const values = [runs.map(({ id }) => id), type];
  await transaction.query({ name: 'calculation-announce', text: ANNOUNCE, values });
}
