/** For `npm run dev`: restarts the roles, on the same ports, when a source file changes. */
import { watch } from 'node:fs';
import { type RolesOptions, type RunningRoles, startRoles } from './roles.ts';

/**
 * Time between the last change of a file and the restart. An editor writes a file in several steps, but one restart is
 * enough.
 */
const SETTLE_MS = 200;

/**
 * Restarts the roles when `.ts` files in `directory` change. After this call, stop the roles only with the returned
 * function `stop`.
 * @returns `stop` and the promise `ended`, which resolves when the roles end for a reason other than a restart.
 */
export function keepRolesCurrent(first: RunningRoles, options: RolesOptions, directory: string) {
  const state = { current: first, isRestarting: false, isStale: false, isStopped: false };
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const follow = (roles: RunningRoles) =>
    void roles.ended.then(() => {
      if (roles === state.current && !state.isRestarting) end();
    });
  const report = (error: unknown) => {
    process.stdout.write(`✗ ${error instanceof Error ? error.message : String(error)}\n`);
    process.stdout.write('  The roles are not running; the next change to a .ts file below src/ starts them again\n');
  };
  const restart = async () => {
    // When a file changes during a restart, the roles are restarted once more after this restart.
    state.isStale = true;
    if (state.isRestarting) return;
    state.isRestarting = true;
    while (state.isStale && !state.isStopped) await restartOnce().catch(report);
    state.isRestarting = false;
  };
  const restartOnce = async () => {
    state.isStale = false;
    process.stdout.write('  A file changed; restarting the roles …\n');
    await state.current.stop();
    state.current = await startRoles(options);
    follow(state.current);
    process.stdout.write('✓ Restarted\n');
  };
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(directory, { recursive: true }, (_event, file) => {
    if (!file?.endsWith('.ts')) return;
    clearTimeout(timer);
    timer = setTimeout(() => void restart(), SETTLE_MS);
  });
  const stop = async () => {
    state.isStopped = true;
    watcher.close();
    await state.current.stop();
  };
  follow(first);
  return { ended, stop };
}
