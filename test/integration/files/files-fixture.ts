/** Starts the HTTP routes and the ingester of Standard Files, and a test API that serves structure and users. */
import { Hono } from 'hono';
import { fileRoutes } from '../../../src/files/file-routes.ts';
import { type FileIngester, startFileIngester } from '../../../src/files/processing/file-ingester.ts';
import type { FileLimits } from '../../../src/files/standard-file.ts';
import { routingPath } from '../../../src/http/create-app.ts';
import { errorHandler } from '../../../src/http/error-response.ts';
import { authenticate } from '../../../src/identity/authentication/authenticate.ts';
import { type RequestIdEnv, requestId } from '../../../src/platform/http/request-id.ts';
import type { Log } from '../../../src/platform/log.ts';
import { openWakeQueue } from '../../../src/platform/queue.ts';
import { listenHttp } from '../../../src/roles/http-listener.ts';
import type { TestClient } from '../../support/clients/test-client.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

export const LIMITS: FileLimits = { maxRows: 10_000_000, maxInflatedBytes: 2 ** 31, maxRatio: 100 };

export interface FileStatusBody {
  readonly id: string;
  readonly filename: string;
  readonly format: string;
  readonly kind: string;
  readonly state: string;
  readonly progress: { readonly bytes: number; readonly totalBytes: number; readonly rows: number };
  readonly counts: {
    readonly rows: number;
    readonly ingested: number;
    readonly rejected: number;
    readonly warnings: number;
  };
  readonly failure?: { readonly code: string; readonly message: string };
  readonly errors: readonly { readonly row: number; readonly code: string; readonly message: string }[];
  readonly warnings?: readonly { readonly row: number; readonly code: string }[];
  readonly ignoredColumns: readonly string[];
}

type UploadBody = NonNullable<RequestInit['body']>;

export interface FileStack {
  readonly api: TestApi;
  readonly origin: string;
  startIngester(limits?: Partial<FileLimits>, log?: Log): FileIngester;
  post(
    path: string,
    body: UploadBody,
    headers?: Readonly<Record<string, string>>,
    client?: TestClient,
  ): Promise<Response>;
  /** Uploads a file in the part `data` of a multipart form. @returns the id of the file. */
  upload(filename: string, content: string | Uint8Array<ArrayBuffer>): Promise<string>;
  get(path: string, client?: TestClient, headers?: Readonly<Record<string, string>>): Promise<Response>;
  status(fileId: string): Promise<FileStatusBody>;
  /** Waits until the file has a final state. */
  ended(fileId: string): Promise<FileStatusBody>;
  close(): Promise<void>;
}

/** Maximum number of event streams that a user may have open. */
export const MAX_FOLLOWED = 3;

export async function startFileStack(maxBytes = 200 << 20): Promise<FileStack> {
  const api = await startTestApi();
  const { parts } = api;
  const queue = openWakeQueue('files', parts.queueOptions);
  const listener = await listenHttp('127.0.0.1', 0);
  const wakeFileIngester = (accountId: number) => queue.wake([String(accountId)]);
  const routes = fileRoutes({
    database: parts.database,
    maxBytes,
    following: { maxPerUser: MAX_FOLLOWED, maxFollowers: 100 },
    maxMemoryBytes: 64 << 20,
    wakeFileIngester,
    log: parts.log,
  });
  // Assembles the API in the same way as `src/http`, but with the file routes only.
  const app = new Hono<RequestIdEnv>({ getPath: (request) => routingPath(request.url) });
  app.use('*', requestId());
  app.onError(errorHandler(parts.log));
  app.use('*', authenticate({ ...parts.authentication, scope: 'datahub-api' }));
  app.route('/', routes);
  listener.serve(app.fetch);
  const origin = `http://127.0.0.1:${listener.port}`;
  const ingesters: FileIngester[] = [];
  const send = (path: string, init: RequestInit, client: TestClient) => {
    const headers = new Headers(init.headers);
    if (client.token !== undefined) headers.set('authorization', `Bearer ${client.token}`);
    return fetch(origin + path, { ...init, headers });
  };
  const get: FileStack['get'] = (path, client = api.manager, headers = {}) => send(path, { headers }, client);
  const post: FileStack['post'] = (path, body, headers = {}, client = api.manager) =>
    send(path, { method: 'POST', body, headers, duplex: 'half' }, client);
  const status = async (fileId: string) => (await (await get(`/storage/${fileId}`)).json()) as FileStatusBody;
  return {
    ...{ api, origin, post, get, status },
    startIngester: (limits = {}, log = parts.log) => {
      const { database, dictionary, queueOptions, outbox, metrics } = parts;
      const settings = {
        concurrency: 2,
        limits: { ...LIMITS, ...limits },
        retentionDays: 30,
        attachmentRetentionDays: 30,
        sweepIntervalMs: 200,
      };
      const ingester = startFileIngester({ database, dictionary, queue, queueOptions, outbox, settings, metrics, log });
      ingesters.push(ingester);
      return ingester;
    },
    upload: async (filename, content) => {
      const form = new FormData();
      form.append('data', new Blob([content]), filename);
      const response = await post(`/storage?filename=${encodeURIComponent(filename)}`, form);
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
      return (await response.json()) as string;
    },
    ended: (fileId) =>
      eventually(`the end of file ${fileId}`, async () => {
        const found = await status(fileId);
        return !['Queued', 'Processing'].includes(found.state) && found;
      }),
    close: async () => {
      await Promise.all(ingesters.map((ingester) => ingester.stop()));
      await queue.close();
      await listener.stop(1000);
      await api.close();
    },
  };
}
