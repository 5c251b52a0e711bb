/**
 * Memory of request bodies: only bytes that have arrived are counted, and no account or user takes the memory that
 * others need (R-A14, R-D10).
 */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestClient } from '../../support/clients/test-client.ts';
import { eventually } from '../../support/eventually.ts';
import { createStructure } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const MIB = 1 << 20;
const PUSH = '/api/data';
const UPLOAD = '/storage?filename=a.csv';
const IMPORT = '/structure/import';

let api: TestApi;
let ofStranger: number;
let second: TestClient;
beforeAll(async () => {
  api = await startTestApi({
    PUSH_MAX_MEMORY_BYTES: String(8 * MIB),
    FILE_UPLOAD_MEMORY_BYTES: String(12 * MIB),
  });
  ({ variableId: ofStranger } = await createStructure(api.stranger));
  second = await api.signIn('second', 'MANAGER');
});
afterAll(() => api.close());

interface OpenBody {
  readonly sent: ClientRequest;
  readonly answer: Promise<{ readonly status: number; readonly body: string; readonly retryAfter: string | undefined }>;
}

/** Opens a request that announces `announced` bytes, sends `sentBytes` of them and stalls. */
function openBody({ token }: TestClient, path: string, announced: number, sentBytes: number): OpenBody {
  const headers = {
    Authorization: `Bearer ${token}`,
    ...{ 'Content-Type': path === UPLOAD ? 'text/csv' : 'application/json', 'Content-Length': announced },
  };
  const sent = request(`${api.origin}${path}`, { method: 'POST', headers, agent: false });
  const answer = new Promise<IncomingMessage>((resolve, reject) =>
    sent.on('response', resolve).on('error', reject),
  ).then(async (incoming) => ({
    status: incoming.statusCode ?? 0,
    body: await text(incoming),
    retryAfter: incoming.headers['retry-after'],
  }));
  answer.catch(() => {});
  sent.flushHeaders();
  if (sentBytes > 0) sent.write(Buffer.alloc(sentBytes, path === UPLOAD ? 'variableId,date,value\n' : ' '));
  return { sent, answer };
}

const close = (pushes: readonly OpenBody[]) => {
  for (const { sent } of pushes) sent.destroy();
};

let minutes = 0;
const pushOfStranger = (readings: number) => {
  const data = Array.from({ length: readings }, () => {
    minutes += 1;
    return { date: new Date(Date.UTC(2026, 0, 1) + 60_000 * minutes).toISOString(), value: 1 };
  });
  return api.stranger.post('/api/data', [{ variableId: ofStranger, data }]);
};

describe('push: memory for request bodies', () => {
  it('announced bytes that have not arrived take no memory from other accounts (R-A14, R-D10)', async () => {
    const idle = Array.from({ length: 20 }, () => openBody(api.manager, PUSH, 7 * MIB, 0));
    await eventually('the requests to arrive', async () => idle.every(({ sent }) => sent.socket?.bytesWritten));
    const answers = await Promise.all(Array.from({ length: 5 }, () => pushOfStranger(8000)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    close(idle);
  });

  it('an account with many stalled pushes gets 503 with Retry-After, and another account can still push (R-A14, R-D10)', async () => {
    const greedy = [api.manager, second].flatMap((client) =>
      Array.from({ length: 6 }, () => openBody(client, PUSH, MIB, MIB - 1)),
    );
    const refused = await Promise.race(greedy.map(({ answer }) => answer));
    expect(refused).toMatchObject({ status: 503, retryAfter: expect.stringMatching(/^[1-9]/) });
    expect(JSON.parse(refused.body)).toMatchObject({
      code: 'queue_full',
      message: expect.stringMatching(
        /^this body would leave too little memory for the push bodies of other (accounts|users)/,
      ),
    });
    const answers = await Promise.all(Array.from({ length: 4 }, () => pushOfStranger(8000)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    close(greedy);
    await eventually('the memory to be free', async () => (await api.manager.post('/api/data', [])).status === 200);
  });
});

describe('files: memory for uploads', () => {
  it('an account with many stalled uploads gets 503 with Retry-After, and another account can still upload (R-A14, R-E1)', async () => {
    const greedy = [api.manager, second].flatMap((client) =>
      Array.from({ length: 4 }, () => openBody(client, UPLOAD, 20 * MIB, 3 * MIB)),
    );
    const refused = await Promise.race(greedy.map(({ answer }) => answer));
    expect(refused).toMatchObject({ status: 503, retryAfter: expect.stringMatching(/^[1-9]/) });
    expect(JSON.parse(refused.body)).toMatchObject({
      code: 'queue_full',
      message: expect.stringMatching(
        /^too little memory is free for this file: the uploads of this (account|user) use \d+ bytes/,
      ),
    });
    const headers = { Authorization: `Bearer ${api.stranger.token}`, 'Content-Type': 'text/csv' };
    const upload = () => fetch(`${api.origin}${UPLOAD}`, { method: 'POST', headers, body: 'variableId,date,value\n' });
    expect((await Promise.all([upload(), upload()])).map(({ status }) => status)).toEqual([200, 200]);
    close(greedy);
  });
});

describe('structure import: memory for documents', () => {
  it('an account with many stalled imports gets 503, and another account can still import', async () => {
    const greedy = [api.manager, second].flatMap((client) =>
      Array.from({ length: 4 }, () => openBody(client, IMPORT, 20 * MIB, 3 * MIB)),
    );
    const refused = await Promise.race(greedy.map(({ answer }) => answer));
    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.body)).toMatchObject({
      code: 'queue_full',
      message: expect.stringMatching(
        /^too little memory is free for this document: the uploads of this (account|user) use \d+ bytes/,
      ),
    });
    expect((await api.stranger.post(IMPORT, {})).status).toBe(202);
    close(greedy);
  });
});
