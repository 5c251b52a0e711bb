import type { Transaction } from '../../platform/database/database.ts';

/**
 * Keeps all chunks in rows or columns as they are until the transaction ends. Call it before `findChunks` in a transaction that
 * changes points; `begin_point_write` and the snapshots of reads do the same.
 */
export async function holdGate(transaction: Transaction): Promise<void> {
  await transaction.query('lock table point_gate in access share mode');
}
