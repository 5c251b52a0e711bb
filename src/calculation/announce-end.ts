/** The event that tells of the end of a run (R-I2), in the transaction that ends it. */
import type { Transaction } from '../platform/database.ts';
import { appendEvents } from '../platform/outbox.ts';

export interface EndedRun {
  readonly id: number;
  readonly variableId: number;
  readonly accountId: number;
}

export async function announceEnd(
  transaction: Transaction,
  run: EndedRun,
  type: 'CalculationCompleted' | 'CalculationFailed',
  { outcome, message }: { readonly outcome: string; readonly message: string | null },
): Promise<void> {
  const payload = { runId: run.id, variableId: run.variableId, outcome, message };
  await appendEvents(transaction, [{ accountId: run.accountId, type, payload }]);
}
