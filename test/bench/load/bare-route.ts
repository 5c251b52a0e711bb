/**
 * Baseline for small pushes: a Hono route that only parses the JSON of a push. The process sends the port of the route
 * to its parent over IPC.
 */
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

const app = new Hono().post('/api/data', async (c) => {
  const body = await c.req.json<readonly unknown[]>();
  return c.json({ elements: body.length });
});
const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => {
  process.send?.((server.address() as AddressInfo).port);
});
process.once('SIGTERM', () => process.exit(0));
