/**
 * The short way of small pushes through HTTP: who is remembered, pushes a small plain body without a query, and means
 * variables that are remembered, is answered without the app. It only ever answers 200, and only to a push that is
 * committed; all others it leaves to the app, with the body it has read, to be judged and answered there.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FindCachedCaller } from '../identity/caller/cached-caller.ts';
import type { Caller } from '../identity/caller/caller.ts';
import { API_VERSION, isApiVersion } from '../platform/http/api-version.ts';
import { isJsonType } from '../platform/http/http-body.ts';
import { isRequestId } from '../platform/http/request-id.ts';
import type { Log } from '../platform/log.ts';
import type { Distribution } from '../platform/metrics/metrics.ts';
import type { Admission } from './accept/admission.ts';
import type { GroupCommit } from './accept/group-commit.ts';
import { noteFailure } from './noted-failure.ts';
import { planSmallPush, type SmallPush, type SmallPushParts } from './plan-small-push.ts';
import type { PushMetrics } from './push-metrics.ts';

export interface SmallPushServices extends SmallPushParts {
  readonly findCachedCaller: FindCachedCaller;
  readonly group: GroupCommit;
  readonly admission: Admission;
  /** Asks for the ingester's attention. */
  readonly wake: (accountId: number) => void;
  readonly metrics: PushMetrics;
  /** Told the seconds of every answer. */
  readonly requestSeconds: Distribution;
  readonly log: Log;
}

type RawHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

interface Request {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly caller: Caller;
  readonly startMs: number;
}

const MAX_BYTES = 16 * 1024;

export function smallPushDoor(services: SmallPushServices, otherwise: RawHandler): RawHandler {
  return (incoming, outgoing) => {
    const caller = admit(services, incoming);
    if (!caller) return otherwise(incoming, outgoing);
    const share = services.admission.openBody();
    if (!share.tryTake(Number(incoming.headers['content-length']))) return otherwise(incoming, outgoing);
    const startMs = performance.now();
    outgoing.once('close', share.release);
    readBody(incoming, (bytes) => void take(services, { incoming, outgoing, caller, startMs }, bytes, otherwise));
  };
}

/** @returns undefined where the request is not one for this door, or is for the app to refuse. */
function admit(
  { findCachedCaller, admission }: SmallPushServices,
  { method, url, headers, rawHeaders }: IncomingMessage,
) {
  if (method !== 'POST' || (url !== '/api/data' && url !== '/api/data/')) return undefined;
  if (headers['content-encoding'] !== undefined || !(Number(headers['content-length']) <= MAX_BYTES)) return undefined;
  if (!isJsonType(headers['content-type']) || !isApiVersion(headerOf(headers['api-version']))) return undefined;
  if (isGivenTwice(rawHeaders, 'authorization') || isGivenTwice(rawHeaders, 'content-type')) return undefined;
  const caller = findCachedCaller(headers.authorization, 'push-data');
  return caller?.permissions.has('datapusher.standard') && admission.hasRoom() ? caller : undefined;
}

/** Node shows the first of such headers, the app takes all of them together. @param name in lower case. */
function isGivenTwice(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index];
    if (given?.length === name.length && given.toLowerCase() === name) count += 1;
  }
  return count > 1;
}

function readBody(incoming: IncomingMessage, done: (bytes: Buffer) => void): void {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('end', () => done(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
}

async function take(
  services: SmallPushServices,
  request: Request,
  bytes: Buffer,
  otherwise: RawHandler,
): Promise<void> {
  const { incoming, outgoing, caller } = request;
  try {
    const plan = planSmallPush(services, caller, bytes);
    const stored = plan && (await store(services, request, plan));
    if (stored) return answer(services, request, stored, bytes.length);
  } catch (error) {
    noteFailure(incoming, error);
  }
  otherwise(Object.assign(incoming, { rawBody: bytes }), outgoing);
}

interface StoredPush extends SmallPush {
  readonly label: string;
  readonly requestId: string;
}

/** @returns undefined when the structure has changed: the app looks again. */
async function store(
  { group, admission, wake }: SmallPushServices,
  { incoming, caller }: Request,
  plan: SmallPush,
): Promise<StoredPush | undefined> {
  const { accountId, userId } = caller;
  const { structureVersion, ...push } = plan;
  const requestId = givenRequestId(incoming);
  const outcome = await group.submit({ accountId, structureVersion, push: { userId, requestId, ...push } });
  if (outcome.kind !== 'stored') return undefined;
  admission.noteQueued(plan.tuples.length);
  wake(accountId);
  return { ...plan, label: outcome.label, requestId: requestId ?? outcome.label };
}

function answer(
  { log, metrics, requestSeconds }: SmallPushServices,
  { incoming, outgoing, caller, startMs }: Request,
  stored: StoredPush,
  bytes: number,
): void {
  const { label, requestId, elements, readings } = stored;
  const body = `{"operationId":"${label}","accepted":{"elements":${elements},"readings":${readings}},"rejected":[]}`;
  outgoing.writeHead(200, {
    'X-Request-Id': requestId,
    'Api-Version': API_VERSION,
    'Content-Type': 'application/json',
    'Content-Length': body.length,
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
