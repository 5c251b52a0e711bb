/**
 * `/account/webhooks/test` (§4.4, R-I7), for MANAGER and ADMIN. A trial send is a test message with its state and
 * result. The routes store and return trial sends. The deliverer sends the test messages.
 */
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
import { generateSecret } from '../administration/webhook-secret.ts';
import type { SecretVault } from '../secret-vault.ts';
import type { TargetPolicy } from '../sending/target-url.ts';
import { SAMPLE_DATA } from './sample-data.ts';
import { type NewTrial, trialSchema } from './trial-schema.ts';
import { trialKey } from './trial-sender.ts';
import { findReusableSecrets, getTrial, insertTrial } from './trial-store.ts';

type Env = CallerEnv & RequestIdEnv;

export interface TrialServices {
  readonly database: Database;
  /** Queue of wake-ups for the deliverer. `trialKey` makes the keys of this queue. */
  readonly queue: WakeQueue;
  readonly targetPolicy: TargetPolicy;
  readonly vault: SecretVault;
  readonly audit: WriteAuditEntry<'WebhookTested'>;
  /**
   * Counts a trial send towards the limit of the account.
   * @returns 0 when the trial send is allowed; otherwise the milliseconds that the account must wait.
   */
  readonly countTrial: (accountId: number) => Promise<number>;
  readonly log: Log;
}

/** Routes of trial sends (§4.4, R-I7). Mount at `/account`. */
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
  if (!(await queue.wake([trialKey(accountId, made.id)])))
    log.warn(
      { testId: made.id, accountId },
      'the wake-up for the trial send was lost; the sweeper will run the trial send',
    );
  c.header('Location', `/account/webhooks/test/${made.id}`);
  return c.json(made);
}

/** Limits the rate of trial sends, because each trial send makes the service call a URL that the user chooses. */
async function assertRate(c: Context<Env>, { countTrial }: TrialServices): Promise<void> {
  const waitMs = await countTrial(c.var.caller.accountId);
  if (waitMs <= 0) return;
  const seconds = Math.ceil(waitMs / 1000);
  c.header('Retry-After', String(seconds));
  throw new DomainError('rate_limited', `the account has sent too many test messages; retry after ${seconds} s`);
}

/**
 * Stores a trial send. The stored secrets of a webhook sign a trial send only if the trial send goes to the URL of that
 * webhook. Otherwise, a caller could use another URL to get a signature that the receiver of the webhook accepts.
 * @returns the id of the trial send. A generated secret is returned too, here and never again.
 */
async function createTrial(
  { audit, vault }: TrialServices,
  transaction: Transaction,
  by: Requester,
  { secret, id: webhookId, data, ...fields }: NewTrial,
): Promise<{ readonly id: string; readonly secret?: string }> {
  const { accountId } = by.caller;
  const { url, httpMethod, headers, bodyTemplate, eventType } = fields;
  const given = secret === null ? undefined : [secret];
  const reused =
    webhookId === null ? undefined : await findReusableSecrets(transaction, vault, accountId, webhookId, url);
  const generated = generateSecret();
  const secrets = given ?? reused ?? [generated];
  const tried = { url, httpMethod, headers, bodyTemplate, eventType, secrets };
  const id = await insertTrial(transaction, vault, accountId, tried, data ?? SAMPLE_DATA[eventType]);
  const details = { eventType, host: new URL(url).host };
  await audit(transaction, by, { action: 'WebhookTested', targetId: id, targetName: fields.name, details });
  return { id, ...(!given && !reused && { secret: generated }) };
}
