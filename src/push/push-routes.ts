/** `POST /api/data` (§4.5, R-D1): answers once the batch is committed. */
import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { type CallerEnv, requirePermission } from '../identity/authenticate.ts';
import type { Database } from '../platform/database.ts';
import { DomainError } from '../platform/errors.ts';
import { readLargeJsonBody } from '../platform/http-body.ts';
import { invalidInput } from '../platform/lenient.ts';
import type { Log } from '../platform/log.ts';
import { parseQuery, queryError } from '../platform/query-string.ts';
import type { RequestIdEnv } from '../platform/request-id.ts';
import { isStorableText, STORABLE_RULE } from '../platform/storable-text.ts';
import type { Dictionary } from '../points/dictionary.ts';
import { acceptPush } from './accept-push.ts';
import { parsePush } from './parse-push-rules.ts';
import type { PushElement, PushLimits } from './push-element.ts';

const MAX_LABEL = 200;

export interface PushServices {
  readonly database: Database;
  readonly dictionary: Dictionary;
  readonly limits: PushLimits & { readonly maxBodyBytes: number };
  /** Wakes the ingester; it may fail, the sweeper finds the batch. */
  readonly wakeIngester: (accountId: number) => Promise<void>;
  readonly log: Log;
}

export function pushRoutes(services: PushServices): Hono<CallerEnv & RequestIdEnv> {
  const { database, dictionary, limits, wakeIngester, log } = services;
  return new Hono<CallerEnv & RequestIdEnv>().post('/data', requirePermission('datapusher.standard'), async (c) => {
    const { caller, requestId } = c.var;
    const operationId = parseOperationId(c.req.url);
    const elements = parseElements(await readLargeJsonBody(c.req.raw, limits.maxBodyBytes), limits);
    const outcome = await acceptPush(database, dictionary, { caller, label: operationId, requestId }, elements);
    if (outcome.accepted.readings > 0) {
      await wakeIngester(caller.accountId).catch((error: unknown) => {
        log.warn({ err: error, requestId }, 'the ingester was not woken; its sweeper finds the batch');
      });
    }
    const { accepted, rejected, warnings } = outcome;
    return c.json({ operationId, accepted, rejected, ...(warnings.length > 0 && { warnings }) });
  });
}

/** The client's label for the import, or one of ours. */
function parseOperationId(address: string): string {
  const label = parseQuery(address).find('operationId') ?? randomUUID();
  if (label.length > MAX_LABEL) throw queryError('operationId', `must be at most ${MAX_LABEL} characters`);
  if (!isStorableText(label)) throw queryError('operationId', STORABLE_RULE);
  return label;
}

function parseElements(body: unknown, limits: PushLimits): readonly PushElement[] {
  const parsed = parsePush(body, limits);
  switch (parsed.kind) {
    case 'ok':
      return parsed.elements;
    case 'invalid':
      throw invalidInput(parsed.details);
    case 'too_large':
      throw new DomainError('body_too_large', parsed.message);
  }
}
