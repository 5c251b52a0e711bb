/**
 * Sends each email of the outbox at least once. The sender commits the claim of an email before the attempt, and the
 * result after it. A crash in between, or a lost answer of the mail server, can cause a second email with the same
 * Message-ID. A claim is a short lease, which is renewed during the attempt. When a process is suspended, another
 * process takes over its email within 10 s. Each attempt creates new secrets (a temporary password, the token of a
 * link). Only the hashes of the secrets are stored.
 */

import type { Database } from '../database/database.ts';
import { LEASE_MS, openRowLeases, type RowLeases } from '../database/row-leases.ts';
import type { Log } from '../log.ts';
import { runForAll } from '../shares/connection-shares.ts';
import { type Sweeper, startSweeper } from '../sweep.ts';
import {
  claimMail,
  LEASED_MAILS,
  type MailOutcome,
  purgeMails,
  type WaitingMail,
  writeMailOutcome,
} from './mail-outbox.ts';
import { type MailValues, renderMail } from './mail-render.ts';
import type { MailTexts } from './mail-text.ts';
import { MailRefusedError, type MailTransport } from './mail-transport.ts';

/** @returns the values of an email about to be sent, including its secrets; undefined when the email is obsolete. */
export type PrepareMail = (mail: WaitingMail) => Promise<MailValues | undefined>;

export interface MailSenderOptions {
  readonly database: Database;
  readonly transport: MailTransport | undefined;
  /** Texts by kind of email. An attempt to send an email whose kind has no texts fails and is logged. */
  readonly texts: MailTexts;
  /** Functions that prepare an email, by kind of email. Emails of other kinds are rendered from their stored data. */
  readonly prepare: Readonly<Partial<Record<string, PrepareMail>>>;
  /** Milliseconds between polls for emails that are due. */
  readonly intervalMs: number;
  readonly log: Log;
}

export interface MailSender extends Sweeper {
  /** Polls now. Call it after queuing an email. */
  wake(): void;
}

const FIRST_PAUSE_SEC = 10;
const LONGEST_PAUSE_SEC = 3600;
const GIVE_UP_AFTER_MS = 5 * 86_400_000;
const KEPT_DAYS = 30;

/**
 * Starts the sender. Without a transport, emails wait in the outbox. After a failure, the sender tries again for five
 * days, unless the server refuses the email permanently.
 */
export function startMailSender({ intervalMs, log, ...options }: MailSenderOptions): MailSender {
  if (!options.transport) log.warn('neither SMTP_URL nor MAIL_DIRECTORY is set; emails are queued, but not sent');
  const leases = openRowLeases<WaitingMail>(options.database, LEASED_MAILS, log);
  let sending: Promise<void> | undefined;
  const send = () => {
    sending ??= sendWaiting(options, leases, log).finally(() => {
      sending = undefined;
    });
    return sending;
  };
  const sweeper = startSweeper('mail', intervalMs, send, log);
  return {
    wake: () =>
      // Without `runForAll`, the sender would use the connection share of the account whose request calls `wake`.
      void runForAll(send).catch((error: unknown) =>
        log.warn({ err: error }, 'sending emails, or deleting old emails, failed; the next poll tries again'),
      ),
    stop: async () => {
      await sweeper.stop();
      await sending?.catch(() => {});
      leases.stop();
      options.transport?.close();
    },
  };
}

type Sending = Omit<MailSenderOptions, 'intervalMs' | 'log'>;

async function sendWaiting(options: Sending, leases: RowLeases<WaitingMail>, log: Log): Promise<void> {
  const { database, transport } = options;
  if (!transport) return;
  for (;;) {
    const beganMs = performance.now();
    const mail = await claimMail(database, LEASE_MS);
    if (!mail) break;
    leases.keep([mail], beganMs);
    const outcome = await attempt(options, transport, mail, () => leases.isHeld(mail));
    await leases.drop([mail]);
    const isWritten = await writeMailOutcome(database, mail, outcome);
    report(mail, outcome, isWritten, log);
  }
  await purgeMails(database, KEPT_DAYS);
}

/**
 * Checks the lease twice. Without the lease, this process could invalidate another process's secrets or send the email
 * twice.
 */
async function attempt(
  { prepare, texts }: Sending,
  transport: MailTransport,
  mail: WaitingMail,
  isHeld: () => boolean,
): Promise<MailOutcome> {
  const expectLease = (): void => {
    if (!isHeld())
      throw new Error('the lease of the email ended before the email was sent; another process may send it');
  };
  try {
    expectLease();
    const translations = texts[mail.kind];
    if (!translations) throw new Error(`no text is registered for emails of kind ${mail.kind}`);
    const values = await (prepare[mail.kind]?.(mail) ?? mail.data);
    if (!values) return { kind: 'Obsolete' };
    expectLease();
    await transport.send({
      ...renderMail(translations, mail.language, values),
      id: mail.id,
      to: mail.to,
      messageId: mail.messageId,
      senderName: mail.senderName ?? undefined,
      replyTo: mail.replyTo ?? undefined,
    });
    return { kind: 'Sent' };
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    const isOld = Date.now() - Date.parse(mail.createdDate) > GIVE_UP_AFTER_MS && mail.attempts > 1;
    if (error instanceof MailRefusedError || isOld) return { kind: 'Failed', failure };
    return { kind: 'Waiting', failure, pauseSec: planPause(mail.attempts) };
  }
}

/** @returns the seconds until the next attempt: 10, 20, 40 …, but never more than an hour. */
function planPause(attempts: number): number {
  return Math.min(FIRST_PAUSE_SEC * 2 ** (attempts - 1), LONGEST_PAUSE_SEC);
}

function report(mail: WaitingMail, outcome: MailOutcome, isWritten: boolean, log: Log): void {
  const { id, kind, attempts, accountId } = mail;
  const fields = { mailId: id, accountId, kind, attempts, failure: 'failure' in outcome ? outcome.failure : undefined };
  if (!isWritten)
    log.warn(
      { ...fields, outcome: outcome.kind },
      'the result of sending an email is dropped (lease lost or row deleted); if the email is still Waiting, another attempt follows',
    );
  else if (outcome.kind === 'Failed') log.error(fields, 'the email was not sent; no further attempt follows');
  else if (outcome.kind === 'Waiting') log.warn(fields, 'the email was not sent; another attempt follows');
  else log.info(fields, outcome.kind === 'Sent' ? 'email sent' : 'the email is obsolete and is not sent');
}
