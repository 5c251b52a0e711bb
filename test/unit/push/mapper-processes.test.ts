/** Which idle processes of mappers are kept (R-D9, R-A14). */
import { expect, test } from 'vitest';
import { createLog } from '../../../src/platform/log.ts';
import { openMapperRunner } from '../../../src/push/mapper/run-mapper.ts';
import { childrenOf } from '../../support/processes.ts';

test('mapper: an account with several mappers does not displace the idle process of another account (R-D9, R-A14)', async () => {
  const limits = { timeoutMs: 10_000, memoryMebibytes: 64, processes: 2 };
  const mappers = openMapperRunner(limits, createLog('silent', 'test'));
  const before = new Set(childrenOf(process.pid));
  const run = async (accountId: number, key: string) => {
    await mappers.run({ accountId, key }, { kind: 'check', expression: '$' } as never);
    return childrenOf(process.pid).filter((pid) => !before.has(pid));
  };
  try {
    const [other] = await run(2, 'other');
    await run(1, 'first');
    expect(await run(1, 'second')).toContain(other);
    expect(await run(1, 'first')).toContain(other);
  } finally {
    await mappers.close();
  }
});
