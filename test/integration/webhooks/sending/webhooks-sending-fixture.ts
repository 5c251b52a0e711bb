/** Fixture of the sending tests: a sender, a target, a message and a TCP server. */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type AddressRange, parseRange } from '../../../../src/platform/address-ranges.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import type { Message } from '../../../../src/webhooks/attempt.ts';
import { openSender, type Sender, type SenderOptions } from '../../../../src/webhooks/sending/send-message.ts';
import type { WebhookTarget } from '../../../../src/webhooks/webhook.ts';

export const SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;

export const MESSAGE: Message = {
  id: '0b1f4a52-6a0a-4e5c-9b7e-1d1e6c3a9d11',
  type: 'SiteCreated',
  timestamp: '2026-03-01T12:00:00Z',
  accountId: 7,
  data: { siteId: 3, name: 'Büro \u0000 "A"' },
};

export function ranges(...texts: readonly string[]): readonly AddressRange[] {
  return texts.map(parseRange).filter((range) => range !== undefined);
}

export function openTestSender(options: Partial<SenderOptions> = {}): Sender {
  const defaults = { allowHttp: true, allowedRanges: ranges('127.0.0.0/8'), timeoutMs: 5000, clock: systemClock };
  return openSender({ ...defaults, ...options });
}

export function targetAt(url: string, fields: Partial<WebhookTarget> = {}): WebhookTarget {
  return { url, httpMethod: 'POST', headers: {}, bodyTemplate: null, secrets: [SECRET], ...fields };
}

export interface RawServer {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Starts a TCP server.
 * @param onRequest called for each received piece of data; its `count` is the number of pieces received so far.
 */
export async function startRawServer(onRequest: (socket: Socket, count: number) => void): Promise<RawServer> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.on('data', () => onRequest(socket, ++count));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { port, url: `http://127.0.0.1:${port}`, close };
}
