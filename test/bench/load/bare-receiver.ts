/**
 * `bare-receiver.ts COUNT` starts COUNT webhook receivers, which answer every request with 200 and verify none. It
 * sends their ports over IPC.
 */
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
