import { expect, test, vi } from 'vitest';
import { createLog } from '../../../src/platform/log.ts';
import { openMapperRunner } from '../../../src/push/mapper/run-mapper.ts';

const { tooManyFiles } = vi.hoisted(() => ({ tooManyFiles: new Error('EMFILE: too many open files') }));
vi.mock('node:fs', async (original) => ({
  ...(await original<typeof import('node:fs')>()),
  readFileSync: () => {
    throw tooManyFiles;
  },
}));

test('mapper: a process that cannot be started frees its permit for the next push (R-D9)', async () => {
  const limits = { timeoutMs: 1000, memoryMebibytes: 64, processes: 1 };
  const mappers = openMapperRunner(limits, createLog('silent', 'test'));
  const request = { kind: 'check', expression: '$' } as never;
  await expect(mappers.run({ accountId: 1 }, request)).rejects.toBe(tooManyFiles);
  // A lost permit would answer queue_full after 5 s.
  await expect(mappers.run({ accountId: 1 }, request)).rejects.toBe(tooManyFiles);
});
