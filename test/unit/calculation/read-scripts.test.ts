/** Tests the messages that the check of a script gives for a syntax error and for an exceeded limit. */
import { expect, test } from 'vitest';
import { readScripts } from '../../../src/calculation/run/read-scripts.ts';
import type { SandboxJob, SandboxOutcome } from '../../../src/calculation/sandbox/sandbox-types.ts';

const NOTES = { messages: [], warnings: [], output: '' };
const TIMING = { waitMs: 0, runMs: 0, cpuMs: 0, maxRssBytes: 0 };

test('validate: reports the message of R for a syntax error, and names an exceeded limit (R-H9)', async () => {
  const outcomes: Record<string, SandboxOutcome> = {
    slow: {
      kind: 'limit',
      limit: 'wall_time',
      message: 'the script ran longer than 30 s',
      line: null,
      notes: NOTES,
      timing: TIMING,
    },
    wrong: { kind: 'script_error', message: 'unexpected symbol', call: '', line: 2, notes: NOTES, timing: TIMING },
  };
  const sandbox = {
    run: async ({ constants }: SandboxJob) => {
      const outcome = outcomes[String(constants[0]?.value)];
      if (!outcome) throw new Error('no outcome for this script');
      return outcome;
    },
    checkHealth: async () => {},
    close: async () => {},
  };
  const { problems } = await readScripts(sandbox, ['slow', 'wrong'], new AbortController().signal);
  expect(problems).toEqual([
    { formula: 0, message: 'the script could not be checked: the script ran longer than 30 s', line: null },
    { formula: 1, message: 'unexpected symbol', line: 2 },
  ]);
});
