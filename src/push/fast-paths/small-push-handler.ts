/**
 * Answers small pushes before they reach the app. A small push has no query string, its body is uncompressed JSON of at
 * most 16 KiB, and its caller and targets are cached. If the answer cannot be 200, the handler passes the request to
 * the app. So only the app refuses pushes.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../../identity/caller/caller.ts';
import { DATE_ZONE_HEADER, formatDateZones } from '../../platform/dates/date-zone-header.ts';
import { API_VERSION, isApiVersion } from '../../platform/http/api-version.ts';
import { isJsonType } from '../../platform/http/http-body.ts';
import { isRequestId } from '../../platform/http/request-id.ts';
import type { BodyShare } from '../accept/admission.ts';
import type { PlainPush, RawHandler, SmallPushServices } from './fast-paths.ts';
import { planSmallPush } from './plan-small-push.ts';

/** A request that the handler has read and passes to the app. */
interface LeftToApp {
  /** The body; @hono/node-server reads this member instead of the stream. */
  readonly rawBody: Buffer;
  /**
   * The error of a failed attempt to store the push. The app must not store the push again, because the commit may have
   * succeeded.
   */
  readonly pushFailure?: { readonly error: unknown };
}

interface Request {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly caller: Caller;
  readonly startMs: number;
  readonly share: BodyShare;
}

const MAX_BYTES = 16 * 1024;

/** Implements `FastPaths.handleSmallPushes`. */
export function smallPushHandler(services: SmallPushServices, app: RawHandler): RawHandler {
  return (incoming, outgoing) => {
    const caller = admit(services, incoming);
    if (!caller) return app(incoming, outgoing);
    const share = services.admission.openBody(caller);
    const startMs = performance.now();
    outgoing.once('close', share.release);
    const request = { incoming, outgoing, caller, startMs, share };
    readBody(incoming, share, (bytes, hasMemory) => void handle(services, request, hasMemory, bytes, app));
  };
}

/**
 * Rethrows the error if the small-push handler failed to store the push of this request.
 * @param env the bindings of the request in the app.
 * @throws the error of the failed store.
 */
export function throwPushFailure(env: unknown): void {
  const { incoming } = (env ?? {}) as { readonly incoming?: Partial<LeftToApp> };
  if (incoming?.pushFailure) throw incoming.pushFailure.error;
}

/** @returns the caller of a small push; undefined when the app must handle the request. */
function admit(
  { findCachedCaller, countPush, admission }: SmallPushServices,
  { method, url, headers, rawHeaders }: IncomingMessage,
) {
  if (method !== 'POST' || (url !== '/api/data' && url !== '/api/data/')) return undefined;
  if (headers['content-encoding'] !== undefined || !(Number(headers['content-length']) <= MAX_BYTES)) return undefined;
  if (!isJsonType(headers['content-type']) || !isApiVersion(headerOf(headers['api-version']))) return undefined;
  if (isRepeated(rawHeaders, 'authorization') || isRepeated(rawHeaders, 'content-type')) return undefined;
  // The app handles requests from web pages, because only the app checks the origin of a request (CORS).
  if (headers.origin !== undefined) return undefined;
  const caller = findCachedCaller(headers.authorization, 'push-data');
  if (!caller?.permissions.has('datapusher.standard') || !admission.hasCapacity(caller.accountId)) return undefined;
  return countPush(caller.userId) ? caller : undefined;
}

/**
 * Returns true when the request contains the header `name` more than once. `headers` would contain only one of them.
 * @param name name of the header, in lower case.
 */
function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index];
    if (given?.length === name.length && given.toLowerCase() === name) count += 1;
  }
  return count > 1;
}

/**
 * Reads the whole body and counts its bytes in `share`, then calls `done`. If `share` refuses the bytes, `hasMemory` is
 * false, and the app must handle the request.
 */
function readBody(
  incoming: IncomingMessage,
  share: BodyShare,
  done: (bytes: Buffer, hasMemory: boolean) => void,
): void {
  const chunks: Buffer[] = [];
  let hasMemory = true;
  incoming.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    hasMemory &&= share.tryTake(chunk.length);
  });
  incoming.on('end', () => done(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks), hasMemory));
}

async function handle(
  services: SmallPushServices,
  request: Request,
  hasMemory: boolean,
  bytes: Buffer,
  app: RawHandler,
): Promise<void> {
  const { incoming, outgoing, share } = request;
  let left: LeftToApp = { rawBody: bytes };
  try {
    const stored = hasMemory ? await store(services, request, bytes) : undefined;
    if (stored) return answer(services, request, stored, bytes.length);
  } catch (error) {
    left = { ...left, pushFailure: { error } };
  }
  // The app itself counts the memory of the body. Without this release, the memory would be counted twice.
  share.release();
  app(Object.assign(incoming, left), outgoing);
}

interface StoredPush {
  readonly push: PlainPush;
  readonly timeZones: readonly string[];
  readonly label: string;
}

/**
 * @returns the stored push; undefined when the app must handle the push, for example because the structure has changed
 * since the targets of the push were cached.
 */
async function store(services: SmallPushServices, { incoming, caller }: Request, bytes: Buffer) {
  const plan = planSmallPush(services, caller, givenRequestId(incoming), bytes);
  if (!plan) return undefined;
  const { structureVersion, push, timeZones } = plan;
  const outcome = await services.submit({ accountId: caller.accountId, structureVersion, push });
  return outcome.kind === 'stored' ? { push, timeZones, label: outcome.label } : undefined;
}

function answer(
  { log, metrics, requestSeconds }: SmallPushServices,
  { incoming, outgoing, caller, startMs }: Request,
  { push, timeZones, label }: StoredPush,
  bytes: number,
): void {
  const { elements, readings } = push;
  const requestId = push.requestId ?? label;
  const body = `{"operationId":"${label}","accepted":{"elements":${elements},"readings":${readings}},"rejected":[]}`;
  outgoing.writeHead(200, {
    'X-Request-Id': requestId,
    'Api-Version': API_VERSION,
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    ...(timeZones.length > 0 && { [DATE_ZONE_HEADER]: formatDateZones(timeZones) }),
  });
  outgoing.end(body);
  const { accountId, userId, actor } = caller;
  const tookMs = performance.now() - startMs;
  metrics.accepted('door', { bytes, elements, readings, rejectedElements: 0 });
  requestSeconds.observe(tookMs / 1000);
  const line = {
    accountId,
    userId,
    actorUserId: actor?.userId,
    method: 'POST',
    path: incoming.url,
    status: 200,
    durationMs: Math.round(tookMs * 10) / 10,
  };
  log.info({ requestId, ...line }, 'request');
}

function givenRequestId({ headers }: IncomingMessage): string | null {
  const given = headerOf(headers['x-request-id']);
  return given !== undefined && isRequestId(given) ? given : null;
}

function headerOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.join(', ');
}
