import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { forkConfined } from '../../../src/platform/processes/fork-confined.ts';

const FILL_MEMORY = fileURLToPath(new URL('../../fixtures/processes/fill-memory.ts', import.meta.url));
const BUFFER_MEBIBYTES = 64;

/** @returns the MiB of buffers that the process could fill; undefined when the process ended without an answer. */
async function fill(wantedMebibytes: number): Promise<number | undefined> {
  const child = forkConfined({
    program: FILL_MEMORY,
    readable: ['test/fixtures/processes/'],
    ...{ heapMebibytes: 64, bufferMebibytes: BUFFER_MEBIBYTES },
  });
  child.send(wantedMebibytes / 16);
  const answer = once(child, 'message').then(([count]) => Number(count) * 16);
  const exit = once(child, 'exit').then(() => undefined);
  const filled = await Promise.race([answer, exit]);
  child.kill('SIGKILL');
  return filled;
}

test('platform: a confined process whose limit is 64 MiB of buffers can allocate 64 MiB, but not 512 MiB (R-A14)', async () => {
  const [within, beyond] = await Promise.all([fill(BUFFER_MEBIBYTES), fill(1024)]);
  expect(within).toBe(BUFFER_MEBIBYTES);
  expect(beyond ?? 0).toBeLessThan(512);
});
