/** `/account/webhooks/test` (§4.4, R-I7): MANAGER, ADMIN. Nothing is sent from here: the deliverer does that. */
import { type Context, Hono } from 'hono';
import type { WriteAuditEntry } from '../../identity/audit-writer.ts';
import { type CallerEnv, requireRole } from '../../identity/authentication/authenticate.ts';
import { type Database, type Transaction, withTransaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { readJsonBody } from '../../platform/http/http-body.ts';
import { parseInput } from '../../platform/http/lenient.ts';
import type { RequestIdEnv } from '../../platform/http/request-id.ts';
import type { Log } from '../../platform/log.ts';
import type { WakeQueue } from '../../platform/queue.ts';
import { assertFields } from '../administration/check-fields.ts';
import type { Requester } from '../administration/save-webhook.ts';
import { makeSecret } from '../administration/webhook-secret.ts';
import type { TargetPolicy } from '../sending/target-url-rules.ts';
import { SAMPLE_DATA } from './sample-data.ts';
import { type NewTrial, trialSchema } from './trial-schema.ts';
import { trialKey } from './trial-sender.ts';
import { findReusableSecrets, getTrial, insertTrial } from './trial-store.ts';

type Env = CallerEnv & RequestIdEnv;

export interface TrialServices {
  readonly database: Database;
  /** Keys are made by `trialKey`. */
  readonly queue: WakeQueue;
  readonly targetPolicy: TargetPolicy;
  readonly audit: WriteAuditEntry<'WebhookTested'>;
  /** Counts a test of the account. @returns milliseconds to wait; 0 lets it pass. */
  readonly countTrial: (accountId: number) => Promise<number>;
  readonly log: Log;
}

export function trialRoutes(services: TrialServices): Hono<Env> {
  const manager = requireRole('MANAGER');
  return new Hono<Env>()
    .post('/webhooks/test', manager, (c) => postTrial(c, services))
    .get('/webhooks/test/:id', manager, async (c) =>
      c.json(await getTrial(services.database, c.var.caller.accountId, c.req.param('id'))),
    );
}

async function postTrial(c: Context<Env>, services: TrialServices): Promise<Response> {
  const { database, queue, targetPolicy, log } = services;
  const { accountId } = c.var.caller;
  const written = parseInput(trialSchema(targetPolicy), await readJsonBody(c.req.raw));
  await assertFields(database, accountId, written);
  await assertRate(c, services);
  const made = await withTransaction(database, (transaction) => createTrial(services, transaction, c.var, written));
  await queue
    .wake([trialKey(accountId, made.id)])
    .catch((error: unknown) => log.warn({ err: error, testId: made.id }, 'left to the sweeper'));
  c.header('Location', `/account/webhooks/test/${made.id}`);
  return c.json(made);
}

/** A test makes the service send what somebody likes to whom they like. */
async function assertRate(c: Context<Env>, { countTrial }: TrialServices): Promise<void> {
  const waitMs = await countTrial(c.var.caller.accountId);
  if (waitMs <= 0) return;
  const seconds = Math.ceil(waitMs / 1000);
  c.header('Retry-After', String(seconds));
  throw new DomainError('rate_limited', `too many tests, please wait ${seconds} s`);
}

/**
 * Signed with the secret given; else with those of the webhook whose `id` is given, as long as the test goes to the same
 * address, so that nobody can have signed what they like and take it elsewhere; else with one made for it.
 * @returns the secret too, where the service made one: this is the only time it can be told.
 */
async function createTrial(
  { audit }: TrialServices,
  transaction: Transaction,
  by: Requester,
  { secret, id: webhookId, data, ...fields }: NewTrial,
): Promise<{ readonly id: string; readonly secret?: string }> {
  const { accountId } = by.caller;
  const { url, httpMethod, headers, bodyTemplate, eventType } = fields;
  const given = secret === null ? undefined : [secret];
  const lent = webhookId === null ? undefined : await findReusableSecrets(transaction, accountId, webhookId, url);
  const made = makeSecret();
  const secrets = given ?? lent ?? [made];
  const tried = { url, httpMethod, headers, bodyTemplate, eventType, secrets };
  const id = await insertTrial(transaction, accountId, tried, data ?? SAMPLE_DATA[eventType]);
  const details = { eventType, host: new URL(url).host };
  await audit(transaction, by, { action: 'WebhookTested', targetId: id, targetName: fields.name, details });
  return { id, ...(!given && !lent && { secret: made }) };
}
