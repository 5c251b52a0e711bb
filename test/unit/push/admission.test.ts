/**
 * Tests the error texts of back-pressure. A text says which limit refuses the push and what the client can do; also how
 * much of the limit is in use, unless the body alone exceeds it.
 */
import { expect, test } from 'vitest';
import type { Database } from '../../../src/platform/database/database.ts';
import { openAdmission } from '../../../src/push/accept/admission.ts';

const MIB = 1 << 20;
const METRICS = { queueFull: { inc: () => {} }, memoryFull: { inc: () => {} } };

/** @param queued the rows returned by the query that reads the queued bytes of each account. */
function open(queued: readonly object[] = []) {
  const database = { query: async () => ({ rows: queued }) } as unknown as Database;
  return openAdmission(database, { maxMemoryBytes: 8 * MIB, maxQueueBytes: 100 * MIB }, METRICS);
}

test('push: a body is refused if it needs more memory than is allowed for all bodies together', () => {
  const body = open().openBody({ accountId: 1, userId: 'max' });
  body.take(5 * MIB);
  expect(() => body.take(5 * MIB)).toThrow(
    'this body alone needs more than the 8 MiB of memory that all push bodies together may take; send several smaller requests',
  );
});

test('push: when too little memory is free for a body, the error names the memory in use, in MiB', () => {
  const admission = open();
  admission.openBody({ accountId: 1, userId: 'max' }).take(7.5 * MIB);
  const body = admission.openBody({ accountId: 2, userId: 'una' });
  expect(() => body.take(MIB)).toThrow(
    'all push bodies together may take at most 8 MiB of memory, and 7.5 MiB are in use; try again later',
  );
  expect(() => body.take(0.5 * MIB)).toThrow(
    'this body would leave too little memory for the push bodies of other accounts; this account uses 0 MiB of the 8 MiB that all push bodies together may take; try again later',
  );
});

test('push: the error for a full queue states how many MiB the queue holds, and how many of these MiB are from the account', async () => {
  const admission = open([
    { accountId: 1, bytes: 20.5 * MIB },
    { accountId: 2, bytes: 70 * MIB },
  ]);
  await expect(admission.assertQueueCapacity(1)).rejects.toThrow(
    'the queue holds 90.5 MiB of readings (limit: 100 MiB), 20.5 MiB of them from this account;',
  );
});
