/** `isCut` of a wave is true when the wave has at least 20,000 runs or at least 20,000 waiting requests (R-H8). */
import { expect, test } from 'vitest';
import { readWave } from '../../../src/calculation/updates/wave.ts';
import type { Caller } from '../../../src/identity/caller/caller.ts';
import type { Queryable } from '../../../src/platform/database/database.ts';

const MAX_RUNS = 20_000;
const MANAGER = { accountId: 1, sites: 'all' } as Caller;

/** Makes a fake database in which every wave has the given numbers of runs and of waiting requests. */
function waveOf(runs: number, waiting: number): Queryable {
  const rowsOf = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ variableId: index + 1, causes: [] }));
  const query = async (text: string) => {
    if (text.includes('from calculation_run ')) return { rows: rowsOf(runs) };
    return { rows: text.includes('from calculation_request ') ? rowsOf(waiting) : [] };
  };
  return { query } as unknown as Queryable;
}

test.each([
  [MAX_RUNS - 1, MAX_RUNS - 1, false],
  [MAX_RUNS, 0, true],
  [0, MAX_RUNS, true],
])(
  'wave: with %i runs and %i waiting requests, `isCut` is %s; at most 20000 runs and 20000 waiting requests are read (R-H8)',
  async (runs, waiting, isCut) => {
    expect(await readWave(waveOf(runs, waiting), MANAGER, 7, 1)).toMatchObject({ isCut });
  },
);
