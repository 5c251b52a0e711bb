/** Tests an upload whose wake-up message does not reach the file ingester, because Redis is unavailable. */
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { fileRoutes } from '../../../src/files/file-routes.ts';
import { authenticate } from '../../../src/identity/authentication/authenticate.ts';
import { type RequestIdEnv, requestId } from '../../../src/platform/http/request-id.ts';
import { createLog } from '../../../src/platform/log.ts';
import { startTestApi } from '../../support/services/start-api.ts';

test('files: when the message that wakes the file ingester is lost, the uploaded file is still stored and the log names the file', async () => {
  const api = await startTestApi();
  try {
    const lines: unknown[] = [];
    const log = Object.assign(createLog('silent', 'test'), {
      warn: (fields: object, message: string) => lines.push({ ...fields, message }),
    });
    const { database, authentication } = api.parts;
    const routes = fileRoutes({
      ...{ database, maxBytes: 1 << 20, maxMemoryBytes: 64 << 20, log },
      following: { maxPerUser: 1, maxFollowers: 1 },
      wakeFileIngester: async () => false,
    });
    const app = new Hono<RequestIdEnv>();
    app.use('*', requestId());
    app.use('*', authenticate({ ...authentication, scope: 'datahub-api' }));
    app.route('/', routes);
    const headers = { authorization: `Bearer ${api.manager.token}`, 'content-type': 'text/csv' };
    const body = 'variable_id,date,value\n1,2026-03-01T00:15:00,1\n';
    const answer = await app.request('/storage', { method: 'POST', body, headers });
    const fileId = await answer.json();
    expect(lines).toMatchObject([
      {
        fileId,
        accountId: api.accountId,
        message: 'the wake-up of the file ingester was lost; the sweeper will process the file',
      },
    ]);
    const { rows } = await database.query('select id from stored_file');
    expect(rows).toEqual([{ id: fileId }]);
  } finally {
    await api.close();
  }
});
