/**
 * Makes one attempt to send a message to its receiver, and returns the outcome (R-I3, R-I4). Deliveries, replays and
 * trial sends all use this sender; its callers decide when to send and whether to retry.
 */
import type { AddressRange } from '../../platform/address-ranges.ts';
import type { Clock } from '../../platform/clock.ts';
import { toStorableText } from '../../platform/database/storable-text.ts';
import type { AttemptOutcome, Message, ReceivedResponse, SentRequest } from '../attempt.ts';
import type { WebhookTarget } from '../webhook.ts';
import { MAX_BODY_BYTES } from './body-template.ts';
import { type ComposedRequest, composeBody, composeRequest } from './compose-request.ts';
import { nameResolver, type Resolve } from './connect-guarded.ts';
import { describeFailure } from './describe-failure.ts';
import { type Answer, exchange } from './exchange.ts';
import { openGuardedAgents } from './guarded-agents.ts';
import { maskCredentials, parseRetryAfter } from './message-headers.ts';
import { parseTargetUrl } from './target-url.ts';

export interface SenderOptions {
  readonly allowHttp: boolean;
  /** Address ranges that receivers may use besides public addresses. */
  readonly allowedRanges: readonly AddressRange[];
  /** Time-out of an attempt: name resolution, connection, TLS and response together. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Resolves host names; default: the name servers of the machine. */
  readonly resolve?: Resolve;
  /** CA certificates in PEM that the sender trusts instead of those that Node trusts by default. */
  readonly ca?: string;
}

export interface SendOutcome extends AttemptOutcome {
  /** Delay that the receiver asks for with the response header `Retry-After`, at most a day. */
  readonly retryAfterMs?: number;
  /** True when the message was too large to send; this failure does not mean that the receiver is down. */
  readonly isTooLarge?: boolean;
}

export interface Sender {
  /** Sends a message. If the message cannot be sent or the receiver fails, the promise resolves with the error. */
  send(target: WebhookTarget, message: Message): Promise<SendOutcome>;
  /** Closes all connections, including those with a request in progress. */
  close(): void;
}

const TOO_LARGE = `the body rendered from bodyTemplate exceeds ${MAX_BODY_BYTES / 2 ** 20} MiB and was not sent; insert less of the event's data`;
const SHOWN_BODY_CHARACTERS = 65_536;
const SHOWN_HEADER_CHARACTERS = 1024;

/** Opens a sender with connection pools; `close` ends them (R-I3). */
export function openSender(options: SenderOptions): Sender {
  const { allowedRanges, timeoutMs, resolve = nameResolver(), ca } = options;
  const agents = openGuardedAgents({ allowedRanges, timeoutMs, resolve }, ca);
  const attempt = async ({ url, httpMethod }: WebhookTarget, request: ComposedRequest): Promise<Attempt> => {
    const parsed = parseTargetUrl(url, options);
    if (parsed.kind === 'refused') return { failure: `the URL of the receiver ${parsed.problem}` };
    const outgoing = { url: parsed.url, method: httpMethod, headers: request.headers, body: request.body };
    const reply = await exchange(outgoing, agents, timeoutMs);
    return { answer: reply.answer, failure: describeFailure(reply, timeoutMs) };
  };
  return {
    send: async (target, message) => {
      const began = performance.now();
      const nowMillis = options.clock.nowMillis();
      const body = composeBody(target, message);
      const request = composeRequest(target, message.id, body ?? '', nowMillis);
      const { answer, failure } = body === undefined ? { failure: TOO_LARGE } : await attempt(target, request);
      const retryAfterMs = parseRetryAfter(answer?.headers['retry-after'], options.clock.nowMillis());
      return {
        state: failure === undefined ? 'Succeeded' : 'Failed',
        request: showRequest(target, request),
        ...(answer && { response: showAnswer(answer) }),
        ...(failure !== undefined && { error: failure }),
        durationMs: Math.round(performance.now() - began),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
        ...(body === undefined && { isTooLarge: true }),
      };
    },
    close: agents.close,
  };
}

/** Result of an attempt. An attempt without `failure` succeeded. */
interface Attempt {
  readonly answer?: Answer | undefined;
  readonly failure?: string | undefined;
}

function showRequest({ url, httpMethod }: WebhookTarget, { headers, ours, body }: ComposedRequest): SentRequest {
  return {
    method: httpMethod,
    url,
    headers: maskCredentials(headers, ours),
    body: toStorableText(body.slice(0, SHOWN_BODY_CHARACTERS)),
  };
}

function showAnswer({ status, headers, bytes, isCut }: Answer): ReceivedResponse {
  // Drops a partial character at the end of a truncated body.
  const body = new TextDecoder().decode(bytes, { stream: isCut });
  return { status, headers: Object.fromEntries(Object.entries(headers).map(showHeader)), body: toStorableText(body) };
}

function showHeader([name, value = '']: [string, string | readonly string[] | undefined]): [string, string] {
  const text = typeof value === 'string' ? value : value.join(', ');
  return [name, toStorableText(text.slice(0, SHOWN_HEADER_CHARACTERS))];
}
