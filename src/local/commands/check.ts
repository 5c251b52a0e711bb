/**
 * `npm run check`: checks types, lint and format, and runs the tests that need no services. Stops at the first failure.
 */

import { runProgram } from '../run-program.ts';
import { runCommand } from './cli.ts';

const CHECKS = [
  ['node_modules/typescript/bin/tsc', '--project', '.'],
  ['node_modules/typescript/bin/tsc', '--project', 'src/console'],
  ['node_modules/@biomejs/biome/bin/biome', 'ci'],
  ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', '--project', 'unit'],
];

await runCommand(async () => {
  for (const argv of CHECKS) {
    const code = await runProgram(argv);
    if (code !== 0) return code;
  }
  return 0;
});
