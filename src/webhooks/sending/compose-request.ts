/** Composes the body and the headers of a message, with the signature that Standard Webhooks specifies (R-I3). */
import { Webhook as Signer } from 'standardwebhooks';
import { isJsonType } from '../../platform/http/http-body.ts';
import type { Message } from '../attempt.ts';
import type { WebhookTarget } from '../webhook.ts';
import { parseTemplate, renderTemplate } from './body-template.ts';
import { contentTypeOf, mergeHeaders } from './message-headers.ts';

const USER_AGENT = 'Tidemark-Webhooks/1.0';

export interface ComposedRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** Headers that the service sets; a webhook cannot set them. `headers` contains them too. */
  readonly ours: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * @returns `{"type","timestamp","accountId","data"}`, or the rendered template; undefined when the rendered template
 * exceeds
 *   1 MiB (R-I3).
 */
export function composeBody({ bodyTemplate, headers }: WebhookTarget, message: Message): string | undefined {
  const { type, timestamp, accountId, data } = message;
  const envelope = { type, timestamp, accountId, data };
  if (bodyTemplate === null) return JSON.stringify(envelope);
  return renderTemplate(parseTemplate(bodyTemplate, isJsonType(contentTypeOf(headers))), envelope);
}

/**
 * Composes the signed request of a message (R-I3).
 * @param id id of the message, the same for every attempt.
 * @param nowMillis instant of this attempt. Each attempt is signed anew, because receivers may refuse a signature that
 *   is minutes old.
 */
export function composeRequest(target: WebhookTarget, id: string, body: string, nowMillis: number): ComposedRequest {
  const ours = {
    'user-agent': USER_AGENT,
    'accept-encoding': 'identity',
    'content-length': String(Buffer.byteLength(body)),
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(nowMillis / 1000)),
    'webhook-signature': sign(target.secrets, id, body, nowMillis),
  };
  const headers = { 'content-type': 'application/json', ...mergeHeaders(target.headers, ours) };
  return { headers, ours, body };
}

/** Signs with each secret, so that receivers can switch to the new secret at any time while the former one is valid. */
function sign(secrets: readonly string[], id: string, body: string, nowMillis: number): string {
  const date = new Date(nowMillis);
  return secrets.map((secret) => new Signer(secret).sign(id, date, body)).join(' ');
}
