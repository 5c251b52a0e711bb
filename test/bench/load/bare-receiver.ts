/** Webhook receivers that read a request and answer 200 without verifying it: `bare-receiver.ts COUNT`. Sends their ports over IPC. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const ports: number[] = [];
for (let number = 0; number < Number(process.argv[2]); number += 1) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-length': '2' }).end('ok'));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ports.push((server.address() as AddressInfo).port);
}
process.send?.(ports);
process.once('SIGTERM', () => process.exit(0));
