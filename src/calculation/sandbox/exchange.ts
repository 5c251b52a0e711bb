/** One connection, one run: sends header and frame, collects the answer until its trailer or the end. */
import { connect, type Socket } from 'node:net';
import { type Answer, AnswerReader } from './wire.ts';

/** The zygote could not be reached, so the run has not begun and may be tried again. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
}

/**
 * @param timeoutMs after which the connection is given up; the supervisor's own wall limit is shorter.
 * @param signal dropping the connection makes the supervisor kill the run.
 * @returns everything received; cut off when the supervisor died or the time was over.
 * @throws ConnectError; the signal's reason.
 */
export async function exchange(
  socketPath: string,
  parts: readonly Buffer[],
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Answer> {
  signal?.throwIfAborted();
  const socket = connect({ path: socketPath, allowHalfOpen: true });
  const abort = () => socket.destroy();
  signal?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(abort, timeoutMs);
  try {
    const answer = await collect(socket, parts);
    signal?.throwIfAborted();
    return answer;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    socket.destroy();
  }
}

function collect(socket: Socket, parts: readonly Buffer[]): Promise<Answer> {
  const reader = new AnswerReader();
  let isConnected = false;
  return new Promise((resolve, reject) => {
    socket.once('connect', () => {
      isConnected = true;
      // One write: every one wakes the supervisor.
      socket.cork();
      for (const part of parts) socket.write(part);
      socket.uncork();
    });
    socket.once('error', (error) => {
      // After the connection stood, a reset is the end of the answer; the missing trailer tells the rest.
      if (!isConnected) reject(new ConnectError(error.message, { cause: error }));
    });
    const finish = () => resolve(reader.answer());
    socket.on('data', (bytes: Buffer) => {
      // The supervisor takes some milliseconds to go: its memory is that of a warm R.
      if (reader.take(bytes)) finish();
    });
    socket.once('end', finish);
    socket.once('close', finish);
  });
}
