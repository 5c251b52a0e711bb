/**
 * Sends one message to one receiver, once, and tells how it went (R-I3, R-I4). Deliveries, replays and tests are all
 * sent here; when to send, and again, is decided by those who call.
 */

import type { AddressRange } from '../../platform/address-rules.ts';
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
import { parseTargetUrl } from './target-url-rules.ts';

export interface SenderOptions {
  readonly allowHttp: boolean;
  /** Reachable besides the public internet. */
  readonly allowedRanges: readonly AddressRange[];
  /** For the whole of a try: name, connection, TLS, answer. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Default: the name servers of the machine. */
  readonly resolve?: Resolve;
  /** Certificates trusted in place of those of Node. */
  readonly ca?: string;
}

export interface SendOutcome extends AttemptOutcome {
  /** What the receiver asked for with `Retry-After`, at most a day. */
  readonly retryAfterMs?: number;
}

export interface Sender {
  /** Never rejects for anything the receiver, its name or its template does. */
  send(target: WebhookTarget, message: Message): Promise<SendOutcome>;
  /** Ends the connections that are kept, and those under way. */
  close(): void;
}

const TOO_LARGE = `the body would be larger than ${MAX_BODY_BYTES / 2 ** 20} MiB`;
const SHOWN_BODY_CHARACTERS = 65_536;
const SHOWN_HEADER_CHARACTERS = 1024;

export function openSender(options: SenderOptions): Sender {
  const { allowedRanges, timeoutMs, resolve = nameResolver(), ca } = options;
  const agents = openGuardedAgents({ allowedRanges, timeoutMs, resolve }, ca);
  const attempt = async ({ url, httpMethod }: WebhookTarget, request: ComposedRequest): Promise<Attempt> => {
    const parsed = parseTargetUrl(url, options);
    if (parsed.kind === 'refused') return { failure: `the address of the receiver ${parsed.problem}` };
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
      };
    },
    close: agents.close,
  };
}

/** What came of it; without a failure it succeeded. */
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
  // Of a text that was cut, half a character at its end is none.
  const body = new TextDecoder().decode(bytes, { stream: isCut });
  return { status, headers: Object.fromEntries(Object.entries(headers).map(showHeader)), body: toStorableText(body) };
}

function showHeader([name, value = '']: [string, string | readonly string[] | undefined]): [string, string] {
  const text = typeof value === 'string' ? value : value.join(', ');
  return [name, toStorableText(text.slice(0, SHOWN_HEADER_CHARACTERS))];
}
