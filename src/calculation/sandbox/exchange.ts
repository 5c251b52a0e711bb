/**
 * Opens one connection per run, sends the run header and the request frame, and collects the answer until its trailer
 * arrives or the connection ends.
 */
import { connect, type Socket } from 'node:net';
import { type Answer, AnswerReader } from './wire.ts';

/** The zygote cannot be reached. The run has not begun, so the caller may send its request again. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
}

/**
 * Runs one exchange with a supervisor: sends the run header and the request frame, and receives the answer.
 * @param timeoutMs milliseconds until the connection is closed; must be longer than the supervisor's wall limit.
 * @param signal abort signal that closes the connection, whereupon the supervisor kills the run.
 * @returns the answer as far as received; it is incomplete when the supervisor died or the time-out passed.
 * @throws {ConnectError} when connecting fails. Throws the reason of `signal` when `signal` is aborted.
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
      // Sends everything in one write, because each write wakes the supervisor.
      socket.cork();
      for (const part of parts) socket.write(part);
      socket.uncork();
    });
    socket.once('error', (error) => {
      // After `connect`, an error does not reject the promise. If the bytes received lack the trailer, the run ends as
      // a `fault`.
      if (!isConnected) reject(new ConnectError(error.message, { cause: error }));
    });
    let isFinished = false;
    // Reads the answer only once: the caller may transfer the buffers of a large answer while the socket is still
    // closing, and a second reading would find these buffers detached.
    const finish = () => {
      if (!isFinished) resolve(reader.answer());
      isFinished = true;
    };
    socket.on('data', (bytes: Buffer) => {
      // Finishes when the trailer has arrived. The connection closes only some milliseconds later, when the supervisor
      // has exited.
      if (!isFinished && reader.take(bytes)) finish();
    });
    socket.once('end', finish);
    socket.once('close', finish);
  });
}
