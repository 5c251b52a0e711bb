/**
 * Builds a root file system as `npm start` does, but with an empty package list. The first command-line argument is a
 * shell command, which mmdebstrap runs as a hook while its mounts are in place. Exits with 0 when the root file system
 * is complete.
 */
import { runCommand } from '../../../src/local/commands/cli.ts';
import { createProgress } from '../../../src/local/progress.ts';
import { ensureRoot } from '../../../src/local/roots/ensure-root.ts';

const hook = process.argv[2] ?? 'true';
await runCommand(async () => {
  const recipe = {
    name: 'r',
    label: 'test root',
    suite: 'trixie',
    packages: [],
    stagedFiles: {},
    hash: 'test',
  } as const;
  await ensureRoot({ ...recipe, hooks: [hook] }, createProgress(process.stderr));
  return 0;
});
