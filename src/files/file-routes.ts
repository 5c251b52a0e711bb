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
import { type FileListener, type FileWatchOptions, openFileWatch } from './file-watch.ts';
import { type FileStatus, findErrors, findWarnings, getFile, isOver } from './find-file.ts';
import { adviceFor } from './upload/attachment-advice.ts';
import { receiveUpload } from './upload/receive-upload.ts';
import { kindOf, storeFile } from './upload/store-file.ts';
import { readContent } from './upload/stored-parts.ts';

const SHOWN_ERRORS = 1000;
const POLL_INTERVAL_MS = 500;
// Proxies and our own listener close idle connections, so a comment is sent after this long without a change.
const KEEP_ALIVE_MS = 15_000;

export interface FileServices {
  readonly database: Database;
  readonly maxBytes: number;
  /** Limits on the clients that follow files. */
  readonly following: Pick<FileWatchOptions, 'maxPerUser' | 'maxFollowers'>;
  /** Bytes of buffers for all files being received. */
  readonly maxMemoryBytes: number;
  /** Wakes the ingester. Never rejects; the ingester's sweeper finds a file whose wake-up was lost. */
  readonly wakeFileIngester: (accountId: number) => Promise<unknown>;
  readonly log: Log;
}

/** Routes below `/storage` (R-E1): upload, state, row errors, progress, content and template. */
export function fileRoutes(services: FileServices): Hono<CallerEnv & RequestIdEnv> {
  const { database, maxBytes, wakeFileIngester, log } = services;
  const watch = openFileWatch({ ...services, ...services.following, intervalMs: POLL_INTERVAL_MS });
  const store = { database, maxBytes, memory: openSharedBudget(services.maxMemoryBytes) };
  const routes = new Hono<CallerEnv & RequestIdEnv>();
  routes.post('/storage', requirePermission('datapusher.standard'), async (c) => {
    const { caller } = c.var;
    const upload = await receiveUpload(c.req.raw, maxBytes);
    const fileId = await storeFile(store, c.var, upload);
    const { format, filename } = upload;
    // The body is the id alone; headers say what happens to the file.
    c.header('File-Kind', kindOf(format));
    const advice = format === undefined ? adviceFor(filename) : undefined;
    if (advice !== undefined) c.header('File-Advice', advice);
    if (format === undefined) return c.json(fileId);
    await wakeFileIngester(caller.accountId).catch((error: unknown) => {
      log.warn(
        { err: error, fileId, requestId: c.var.requestId },
        'could not wake the file ingester; its sweeper will find the file',
      );
    });
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
    return answerDownload(c, Readable.from(readContent(database, id, progress.totalBytes)), format, filename);
  });
  routes.get('/storage/:id/events', async (c) => {
    const { caller } = c.var;
    const first = await getFile(database, caller, c.req.param('id'));
    // For HEAD, Hono drops the body without cancelling it: the stream would follow the file for ever.
    if (c.req.method === 'HEAD') return c.body(null, 200, { 'Content-Type': 'text/event-stream' });
    const { states, listener } = collectStates(first);
    const leave = watch.follow(caller, first.id, listener);
    // A body that nothing reads is not cancelled when its client leaves.
    c.req.raw.signal.addEventListener('abort', () => {
      leave();
      listener(undefined);
    });
    markStreamed(c);
    return streamSSE(c, async (stream) => {
      // Ends the wait for the next state.
      stream.onAbort(() => listener(undefined));
      await sendProgress(stream, first, states).finally(leave);
    });
  });
  return routes;
}

/** Sends `progress` after each change and `end` with the final state; sends a comment every 15 s without a change. */
async function sendProgress(stream: SSEStreamingApi, first: FileStatus, states: FileStates): Promise<void> {
  for (let status: FileStatus | undefined = first; !stream.aborted; status = await states.next(KEEP_ALIVE_MS)) {
    if (status === undefined) await stream.write(': keep-alive\n\n');
    else if (isOver(status)) return stream.writeSSE({ event: 'end', data: JSON.stringify(status) });
    else await stream.writeSSE({ event: 'progress', data: JSON.stringify(status) });
    if (states.hasEnded()) return;
  }
}

interface FileStates {
  /** @returns the newest state that was not returned yet; undefined after `waitMs` without one. */
  next(waitMs: number): Promise<FileStatus | undefined>;
  /** Whether the file was deleted or the client left. */
  hasEnded(): boolean;
}

/** Keeps the newest state for a client that takes longer than an interval to receive one. */
function collectStates(first: FileStatus): { readonly states: FileStates; readonly listener: FileListener } {
  let newest: FileStatus | undefined;
  let seen = JSON.stringify(first);
  let hasEnded = false;
  let wake = (): void => {};
  return {
    listener: (status) => {
      const text = JSON.stringify(status);
      if (status && text === seen) return;
      hasEnded = !status;
      newest = status;
      seen = text;
      wake();
    },
    states: {
      next: async (waitMs) => {
        if (!newest && !hasEnded) {
          let timer: NodeJS.Timeout | undefined;
          await new Promise<void>((resolve) => {
            wake = resolve;
            timer = setTimeout(resolve, waitMs);
          });
          clearTimeout(timer);
        }
        const status = newest;
        newest = undefined;
        return status;
      },
      hasEnded: () => hasEnded,
    },
  };
}
