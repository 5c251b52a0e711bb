/** Starts and ends the process (`load-process.ts`) that produces the load of account A. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoadOrder, LoadReport } from './load-process.ts';

const LOAD_PROCESS = fileURLToPath(new URL('./load-process.ts', import.meta.url));

export interface RunningLoad {
  stop(): Promise<LoadReport>;
}

/**
 * Returns the load as soon as the load occupies its resource.
 * @throws {Error} when the process of the load ends before that.
 */
export async function startLoadProcess(order: LoadOrder): Promise<RunningLoad> {
  const child = fork(LOAD_PROCESS);
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the process of the load ended early with ${signal ?? code}`);
  });
  // `ended` is awaited only while a message is expected. At other times, this handler prevents an unhandled rejection.
  ended.catch(() => {});
  const receive = async <Message>(): Promise<Message> => {
    const [message] = await Promise.race([once(child, 'message'), ended]);
    return message;
  };
  child.send(order);
  await receive();
  return {
    stop: async () => {
      const report = receive<LoadReport>();
      child.send('stop');
      return report;
    },
  };
}
