/** A webhook receiver on loopback: verifies signatures, records messages and answers as configured. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { eventually } from '../eventually.ts';

export interface ReceivedMessage {
  /** Path and query of the request. */
  readonly path: string;
  /** Header `webhook-id`. */
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: {
    readonly type: string;
    readonly timestamp: string;
    readonly accountId: number;
    readonly data: unknown;
  };
  /** Arrival by performance.now(). */
  readonly atMs: number;
}

/** Status of the answer, or status and headers. With `hang`, the receiver never answers. */
export type Answer = number | 'hang' | { readonly status: number; readonly headers: Readonly<Record<string, string>> };

export interface WebhookReceiver {
  readonly url: string;
  /** The messages with a valid signature that have arrived so far. */
  readonly received: readonly ReceivedMessage[];
  /** Bodies whose signature was invalid. */
  readonly forged: readonly string[];
  /** The next messages get these answers, in order. All later messages get the last of these answers. */
  answer(...answers: readonly Answer[]): void;
  /** Waits until `count` messages with a valid signature have arrived. */
  waitFor(count: number, timeoutMs?: number): Promise<readonly ReceivedMessage[]>;
  /** Cuts every connection. */
  disconnect(): void;
  close(): Promise<void>;
}

export const SECRET = `whsec_${Buffer.from('a secret that receivers know well').toString('base64')}`;

export async function openReceiver(secret = SECRET): Promise<WebhookReceiver> {
  const received: ReceivedMessage[] = [];
  const forged: string[] = [];
  let answers: readonly Answer[] = [200];
  const server = createServer(async (request, response) => {
    const text = await readText(request);
    const headers = request.headers as Record<string, string>;
    const atMs = performance.now();
    try {
      const body = new Webhook(secret).verify(text, headers) as ReceivedMessage['body'];
      received.push({ path: request.url ?? '', id: headers['webhook-id'] ?? '', headers, body, atMs });
    } catch {
      forged.push(text);
    }
    const [answer = 200, ...rest] = answers;
    if (rest.length > 0) answers = rest;
    reply(response, answer);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    forged,
    answer: (...next) => {
      answers = next;
    },
    waitFor: (count, timeoutMs) =>
      eventually(`${count} messages`, async () => received.length >= count && received, timeoutMs),
    disconnect: () => server.closeAllConnections(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function reply(response: ServerResponse, answer: Answer): void {
  if (answer === 'hang') return;
  const { status, headers } = typeof answer === 'number' ? { status: answer, headers: {} } : answer;
  response.writeHead(status, headers).end('noted');
}
