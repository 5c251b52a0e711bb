import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Log } from '../../../src/platform/log.ts';
import { openMapperRunner } from '../../../src/push/mapper/run-mapper.ts';

const tooManyFiles = new Error('EMFILE: too many open files');

beforeEach(() => {
  vi.spyOn(fs, 'readFileSync').mockImplementation(() => {
    throw tooManyFiles;
  });
  syncBuiltinESMExports();
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

test('mapper: when a process cannot be started, its permit is freed and the log names the mapper (R-D9)', async () => {
  const limits = { timeoutMs: 1000, memoryMebibytes: 64, processes: 1 };
  const warn = vi.fn();
  const mappers = openMapperRunner(limits, { warn } as unknown as Log);
  const request = { kind: 'check', expression: '$' } as never;
  await expect(mappers.run({ accountId: 1, key: 'guid' }, request)).rejects.toBe(tooManyFiles);
  const fields = { err: tooManyFiles, accountId: 1, mapper: 'guid' };
  expect(warn).toHaveBeenCalledWith(fields, expect.stringContaining('could not be run'));
  // If the first run had kept the permit, this run would be refused with queue_full after 5 s.
  await expect(mappers.run({ accountId: 1 }, request)).rejects.toBe(tooManyFiles);
});
