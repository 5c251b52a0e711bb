/** `POST /api/generic/{guid}` (R-D9): maps a body in a custom format to push elements and accepts them as a push. */
import { Hono } from 'hono';
import { type CallerEnv, requirePermission } from '../identity/authentication/authenticate.ts';
import { DomainError } from '../platform/errors.ts';
import { incomingOf, readBytes } from '../platform/http/http-body.ts';
import type { RequestIdEnv } from '../platform/http/request-id.ts';
import { bodyFormat } from './mapper/body-format.ts';
import { getMapper } from './mapper/mappers.ts';
import { sendAnswer } from './push-answer.ts';
import { parsePushQuery } from './push-query.ts';
import type { PushService } from './push-service.ts';
import { makeLabel } from './store/operation-label.ts';

type Env = CallerEnv & RequestIdEnv;

/** @returns the route `POST /generic/{guid}` (R-D9). The answer is 404 when the mapper is unknown or disabled. */
export function genericRoutes({ database, admission, acceptPush, mapperRunner, maxBodyBytes }: PushService): Hono<Env> {
  return new Hono<Env>().post('/generic/:guid', requirePermission('datapusher.custom'), async (c) => {
    const { caller, requestId } = c.var;
    const { operationId, timeoutSec } = parsePushQuery(c.req.url);
    const mapper = await getMapper(database, caller.accountId, c.req.param('guid'));
    if (!mapper.isEnabled) throw new DomainError('not_found', `mapper ${mapper.id} is disabled`);
    const format = bodyFormat(c.req.raw);
    await admission.assertQueueCapacity(caller.accountId);
    const share = admission.openBody(caller);
    try {
      const bytes = await readBytes(c.req.raw, maxBodyBytes, share.take, incomingOf(c.env));
      // Hashes the body that the client sent, not the mapped body: a mapper may map equal bodies differently each time.
      const bodyHash = operationId === undefined ? undefined : await hash(bytes, mapper.id);
      const body = { format, hasHeader: mapper.hasHeader, bytes };
      const use = { accountId: caller.accountId, key: `${mapper.id} ${mapper.modifiedDate}` };
      const reply = await mapperRunner.run(use, { expression: mapper.expression, body, maxBytes: maxBodyBytes });
      const elements = reply.kind === 'mapped' ? reply.json : new TextEncoder().encode('[]');
      const label = operationId ?? makeLabel(Date.now());
      const context = { caller, label, isResendable: operationId !== undefined, timeoutSec, requestId };
      return sendAnswer(c, await acceptPush({ ...context, mapperId: mapper.id, bodyHash }, elements));
    } finally {
      share.release();
    }
  });
}

async function hash(bytes: Uint8Array<ArrayBuffer>, mapperId: string): Promise<Uint8Array> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Buffer.concat([Buffer.from(mapperId), digest]);
}
