/**
 * Sends requests over many connections, one request at a time on each. It uses raw sockets, so that the client takes
 * little of the measured time. It reads only answers with a Content-Length.
 */
import { createConnection, type Socket } from 'node:net';

export interface Load {
  readonly connections: number;
  readonly durationMs: number;
  /** Returns the bytes of the next request, including its headers. */
  readonly nextRequest: () => Buffer;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const STATUS_START = 'HTTP/1.1 '.length;

/** @returns answers per second. @throws {Error} at the first answer whose status is not 200. */
export async function measureLoad(origin: string, { connections, durationMs, nextRequest }: Load): Promise<number> {
  const { hostname, port } = new URL(origin);
  const startMs = performance.now();
  const endMs = startMs + durationMs;
  const counts = await Promise.all(
    Array.from({ length: connections }, () => askUntil(endMs, createConnection(Number(port), hostname), nextRequest)),
  );
  const seconds = (performance.now() - startMs) / 1000;
  return counts.reduce((sum, count) => sum + count, 0) / seconds;
}

function askUntil(endMs: number, socket: Socket, nextRequest: () => Buffer): Promise<number> {
  let answers = 0;
  let received: Buffer = Buffer.alloc(0);
  return new Promise((resolve, reject) => {
    const ask = (): void => {
      if (performance.now() < endMs) socket.write(nextRequest());
      else socket.end(() => resolve(answers));
    };
    socket.setNoDelay(true);
    socket.on('error', reject);
    socket.on('connect', ask);
    socket.on('data', (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const length = answerLength(received);
      if (length === undefined || received.length < length) return;
      const status = received.toString('latin1', STATUS_START, STATUS_START + 3);
      if (status !== '200') return reject(new Error(received.toString('utf8')));
      received = received.subarray(length);
      answers += 1;
      ask();
    });
  });
}

/** @returns the length of the first answer in `received`; undefined while its headers are incomplete. */
function answerLength(received: Buffer): number | undefined {
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = received.toString('latin1', 0, headEnd);
  const [, digits] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
  if (digits === undefined) throw new Error(`an answer must have a Content-Length:\n${head}`);
  return headEnd + HEAD_END.length + Number(digits);
}
