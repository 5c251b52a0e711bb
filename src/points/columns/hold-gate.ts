import type { Transaction } from '../../platform/database/database.ts';

/**
 * Locks `point_gate` in shared mode, so that no chunk is compressed until the transaction ends (`compressChunk` locks
 * it exclusively). Call this function before `findChunks` in a transaction that changes points; `begin_point_write` and
 * the snapshots of reads take the same lock.
 */
export async function holdGate(transaction: Transaction): Promise<void> {
  await transaction.query('lock table point_gate in access share mode');
}
