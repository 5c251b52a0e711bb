/** Routes under `/storage` (R-E1): upload a Standard File or an attachment, follow its ingestion, download it and its row errors. */
import { Readable } from 'node:stream';
import { Hono } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { type CallerEnv, requirePermission } from '../identity/authentication/authenticate.ts';
import type { Database } from '../platform/database/database.ts';
import type { RequestIdEnv } from '../platform/http/request-id.ts';
import { markStreamed } from '../platform/http/streamed-answer.ts';
import type { Log } from '../platform/log.ts';
import { openSharedBudget } from '../platform/shared-budget.ts';
import { answerDownload, answerErrors, answerTemplate, ERRORS_QUERY } from './downloads.ts';
import { findErrors, findWarnings, getFile, isOver } from './find-file.ts';
import { receiveUpload } from './upload/receive-upload.ts';
import { storeFile } from './upload/store-file.ts';
import { readContent } from './upload/stored-parts.ts';

const SHOWN_ERRORS = 1000;
const POLL_INTERVAL_MS = 500;
// Proxies and our own listener close idle connections, so a comment is sent after this long without a change.
const KEEP_ALIVE_MS = 15_000;

export interface FileServices {
  readonly database: Database;
  readonly maxBytes: number;
  /** Bytes of buffers for all files being received. */
  readonly maxMemoryBytes: number;
  /** Wakes the ingester. Never rejects; the ingester's sweeper finds a file whose wake-up was lost. */
  readonly wakeFileIngester: (accountId: number) => Promise<unknown>;
  readonly log: Log;
}

/** Routes below `/storage` (R-E1): upload, state, row errors, progress, content and template. */
export function fileRoutes(services: FileServices): Hono<CallerEnv & RequestIdEnv> {
  const { database, maxBytes, wakeFileIngester, log } = services;
  const store = { database, maxBytes, memory: openSharedBudget(services.maxMemoryBytes) };
  const routes = new Hono<CallerEnv & RequestIdEnv>();
  routes.post('/storage', requirePermission('datapusher.standard'), async (c) => {
    const { caller } = c.var;
    const upload = await receiveUpload(c.req.raw, maxBytes);
    const fileId = await storeFile(store, c.var, upload);
    if (upload.format === undefined) return c.json(fileId);
    await wakeFileIngester(caller.accountId).catch((error: unknown) => {
      log.warn(
        { err: error, fileId, requestId: c.var.requestId },
        'could not wake the file ingester; its sweeper will find the file',
      );
    });
    return c.json(fileId);
  });
  // Before `/storage/:id`, which would read `template` as an id.
  routes.get('/storage/template', (c) => answerTemplate(c));
  routes.get('/storage/:id', async (c) => {
    const status = await getFile(database, c.var.caller, c.req.param('id'));
    const found = await findErrors(database, status.id, 0, SHOWN_ERRORS);
    const errors = found.map(({ row, code, message }) => ({ row, code, message }));
    const warnings = await findWarnings(database, status.id);
    return c.json({ ...status, errors, ...(warnings.length > 0 && { warnings }) });
  });
  routes.get('/storage/:id/errors', async (c) => {
    const query = ERRORS_QUERY.parse(c.req.url);
    return answerErrors(c, database, await getFile(database, c.var.caller, c.req.param('id')), query);
  });
  routes.get('/storage/:id/content', async (c) => {
    const { id, filename, format, progress } = await getFile(database, c.var.caller, c.req.param('id'));
    c.header('Content-Length', String(progress.totalBytes));
    return answerDownload(c, Readable.from(readContent(database, id, progress.totalBytes)), format, filename);
  });
  routes.get('/storage/:id/events', async (c) => {
    const { id } = await getFile(database, c.var.caller, c.req.param('id'));
    markStreamed(c);
    return streamSSE(c, (stream) => follow(stream, () => getFile(database, c.var.caller, id)));
  });
  return routes;
}

/** Sends `progress` after each change and `end` with the final state; sends a comment every 15 s without a change. */
async function follow(stream: SSEStreamingApi, readStatus: () => ReturnType<typeof getFile>): Promise<void> {
  let sent = '';
  let idleMs = 0;
  while (!stream.aborted) {
    const status = await readStatus();
    const data = JSON.stringify(status);
    if (isOver(status)) return stream.writeSSE({ event: 'end', data });
    if (data !== sent) await stream.writeSSE({ event: 'progress', data });
    else if (idleMs >= KEEP_ALIVE_MS) await stream.write(': keep-alive\n\n');
    idleMs = data !== sent || idleMs >= KEEP_ALIVE_MS ? 0 : idleMs + POLL_INTERVAL_MS;
    sent = data;
    await stream.sleep(POLL_INTERVAL_MS);
  }
}
