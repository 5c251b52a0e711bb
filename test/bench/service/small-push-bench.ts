/**
 * Compares the requests per second of Tidemark with those of a bare Hono route. Tidemark receives pushes of one reading
 * and answers each push when it is durable; the bare route only parses the same JSON. The same client, with 64 raw
 * sockets, measures both in turn.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Database } from '../../../src/platform/database/database.ts';
import type { ApiClient } from '../../support/fixtures/sign-in.ts';
import { createSiteAndSource, createVariable } from '../../support/fixtures/structure.ts';
import { measureLoad } from '../load/http-load.ts';
import { type Figure, figure } from '../report.ts';

const ROUNDS = 5;
const CONNECTIONS = 64;
const DURATION_MS = 3000;
const VARIABLES = 200;
const START_MILLIS = Date.UTC(2025, 0, 1);
const DRAIN_TIMEOUT_MS = 120_000;

export async function benchSmallPush(database: Database, api: ApiClient, http: string): Promise<Figure> {
  const { sourceId } = await createSiteAndSource(api);
  const variableIds: number[] = [];
  for (let index = 0; index < VARIABLES; index += 1) variableIds.push(await createVariable(api, sourceId));
  const bare = await startBareRoute();
  const pairs: (readonly [number, number])[] = [];
  let sent = 0;
  const nextRequest = (): Buffer => {
    const variableId = variableIds[sent % VARIABLES];
    const date = new Date(START_MILLIS + Math.floor(sent / VARIABLES) * 60_000).toISOString();
    sent += 1;
    return request(JSON.stringify([{ variableId, data: [{ date, value: sent }] }]), api.token ?? '');
  };
  try {
    // The first round only warms up both servers; its figures are not reported.
    for (let round = 0; round <= ROUNDS; round += 1) {
      const load = { connections: CONNECTIONS, durationMs: DURATION_MS, nextRequest };
      const limit = await measureLoad(bare.origin, load);
      sent = round * 10_000_000;
      const ours = await measureLoad(http, load);
      await drained(database);
      if (round > 0) pairs.push([ours, limit]);
    }
  } finally {
    bare.process.kill('SIGTERM');
  }
  return figure(
    `durable pushes of one reading, ${CONNECTIONS} connections`,
    'of a bare Hono route',
    'requests/s',
    pairs,
  );
}

async function startBareRoute(): Promise<{ readonly process: ChildProcess; readonly origin: string }> {
  const child = fork(fileURLToPath(new URL('../load/bare-route.ts', import.meta.url)), { execArgv: [] });
  const [port] = (await once(child, 'message')) as [number];
  return { process: child, origin: `http://127.0.0.1:${port}` };
}

function request(body: string, token: string): Buffer {
  const head = [
    'POST /api/data HTTP/1.1',
    'Host: bench',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Waits until all accepted pushes are written, so that every round starts with no pending pushes. */
async function drained(database: Database): Promise<void> {
  const endMs = performance.now() + DRAIN_TIMEOUT_MS;
  for (;;) {
    const { rows } = await database.query<{ count: number }>('select count(*) as count from push_batch');
    if (rows[0]?.count === 0) return;
    if (performance.now() > endMs) throw new Error(`${rows[0]?.count} pushes were not written in time`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
