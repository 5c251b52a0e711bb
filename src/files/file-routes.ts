/**
 * Routes under `/storage` (R-E1): upload Standard Files and attachments, follow the ingestion of Standard Files, and
 * download files, row errors and the template of a Standard File.
 */
import { Readable } from 'node:stream';
import { Hono } from 'hono';
import { type CallerEnv, requirePermission } from '../identity/authentication/authenticate.ts';
import type { Database } from '../platform/database/database.ts';
import { readContent, UPLOAD_SHARE } from '../platform/database/stored-parts.ts';
import type { RequestIdEnv } from '../platform/http/request-id.ts';
import type { Log } from '../platform/log.ts';
import { openAccountPace } from '../platform/shares/account-pace.ts';
import { openSharedBudget } from '../platform/shares/shared-budget.ts';
import { answerEvents } from '../platform/streaming/status-events.ts';
import { openStatusWatch, STATUS_INTERVAL_MS, type StatusWatchOptions } from '../platform/streaming/status-watch.ts';
import { answerDownload, answerErrors, answerTemplate, ERRORS_QUERY } from './downloads.ts';
import { type FileStatus, findErrors, findStatuses, findWarnings, getFile, isOver } from './find-file.ts';
import { adviceFor } from './upload/attachment-advice.ts';
import { receiveUpload } from './upload/receive-upload.ts';
import { FILE_PARTS, kindOf, storeFile } from './upload/store-file.ts';

const SHOWN_ERRORS = 1000;

export interface FileServices {
  readonly database: Database;
  readonly maxBytes: number;
  /** Limits on the number of clients that follow files. */
  readonly following: Pick<StatusWatchOptions<FileStatus>, 'maxPerUser' | 'maxFollowers'>;
  /** Maximum memory for the buffers of all uploads in progress, in bytes. */
  readonly maxMemoryBytes: number;
  /**
   * Wakes the file ingester.
   * @returns false when the wake-up is lost. The ingester's sweeper then finds the file later.
   */
  readonly wakeFileIngester: (accountId: number) => Promise<boolean>;
  readonly log: Log;
}

/** Routes below `/storage` (R-E1): upload, state, row errors, progress, content and template. */
export function fileRoutes(services: FileServices): Hono<CallerEnv & RequestIdEnv> {
  const { database, maxBytes, wakeFileIngester, log } = services;
  const watch = openStatusWatch<FileStatus>({
    ...{ ...services.following, subjects: 'files', instead: 'GET /storage/{id}', intervalMs: STATUS_INTERVAL_MS, log },
    find: (ids) => findStatuses(database, ids),
    isStopping: () => database.ending,
  });
  const store = {
    database,
    maxBytes,
    memory: openSharedBudget(services.maxMemoryBytes),
    pace: openAccountPace({ share: UPLOAD_SHARE }),
  };
  const routes = new Hono<CallerEnv & RequestIdEnv>();
  routes.post('/storage', requirePermission('datapusher.standard'), async (c) => {
    const { caller } = c.var;
    const upload = await receiveUpload(c.req.raw, maxBytes);
    const fileId = await storeFile(store, c.var, upload);
    const { format, filename } = upload;
    // The body is only the id; headers describe how the file will be processed.
    c.header('File-Kind', kindOf(format));
    const advice = format === undefined ? adviceFor(filename) : undefined;
    if (advice !== undefined) c.header('File-Advice', advice);
    if (format === undefined) return c.json(fileId);
    if (!(await wakeFileIngester(caller.accountId))) {
      const ids = { fileId, accountId: caller.accountId, requestId: c.var.requestId };
      log.warn(ids, 'the wake-up of the file ingester was lost; the sweeper will process the file');
    }
    return c.json(fileId);
  });
  // Registered before `/storage/:id`, which would read `template` as an id.
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
    return answerDownload(
      c,
      Readable.from(readContent(database, FILE_PARTS, id, progress.totalBytes)),
      format,
      filename,
    );
  });
  routes.get('/storage/:id/events', async (c) => {
    const first = await getFile(database, c.var.caller, c.req.param('id'));
    return answerEvents(c, { watch, caller: c.var.caller, first, isOver });
  });
  return routes;
}
