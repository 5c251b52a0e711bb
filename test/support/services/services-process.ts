/**
 * A process that runs TimescaleDB and Redis in DIRECTORY, for tests that kill the process:
 * `node services-process.ts DIRECTORY`. Prints `{serverUrl, redisUrl}` on one line when both servers answer. SIGTERM
 * stops both servers and ends the process.
 */
import { createProgress } from '../../../src/local/progress.ts';
import { startServices } from '../../../src/local/services/services.ts';

const [directory = ''] = process.argv.slice(2);
const { serverUrl, redisUrl, stop } = await startServices({
  directory,
  logDirectory: directory,
  passwords: { postgres: 'secret', redis: 'secret' },
  isDurable: true,
  progress: createProgress(process.stderr),
});
process.stdout.write(`${JSON.stringify({ serverUrl, redisUrl })}\n`);
process.once('SIGTERM', () => void stop().then(() => process.exit(0)));
