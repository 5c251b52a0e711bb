/**
 * Sends what waits in the mail outbox. An attempt is committed before it begins and its end after it ended: a crash in
 * between, or a server that took a mail without saying so, leads to a second mail with the same Message-ID, never to
 * none. Secrets (a temporary password, the token of a link) are made by the attempt; only their hashes are stored.
 */
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import { type Sweeper, startSweeper } from '../sweep.ts';
import { claimMail, type MailOutcome, purgeMails, type WaitingMail, writeMailOutcome } from './mail-outbox.ts';
import { type MailValues, renderMail } from './mail-render.ts';
import type { MailKind } from './mail-text.ts';
import { MailRefusedError, type MailTransport } from './mail-transport.ts';

/** Gives the values of a mail about to be sent, its secrets among them; undefined when there is no more use for it. */
export type PrepareMail = (mail: WaitingMail) => Promise<MailValues | undefined>;

export interface MailSenderOptions {
  readonly database: Database;
  readonly transport: MailTransport | undefined;
  /** Kinds that are not here need no more than their data. */
  readonly prepare: Readonly<Partial<Record<MailKind, PrepareMail>>>;
  /** Milliseconds between looks for mails that are due. */
  readonly intervalMs: number;
  readonly log: Log;
}

export interface MailSender extends Sweeper {
  /** Looks now: a mail was asked for. */
  wake(): void;
}

/** Longer than any attempt takes. */
const LEASE_SEC = 300;
const FIRST_PAUSE_SEC = 10;
const LONGEST_PAUSE_SEC = 3600;
const GIVE_UP_AFTER_MS = 5 * 86_400_000;
const KEPT_DAYS = 30;

export function startMailSender({ intervalMs, log, ...options }: MailSenderOptions): MailSender {
  if (!options.transport) log.warn('no mail server is set (SMTP_URL): mails wait');
  let sending: Promise<void> | undefined;
  const send = () => {
    sending ??= sendWaiting(options, log).finally(() => {
      sending = undefined;
    });
    return sending;
  };
  const sweeper = startSweeper('mail', intervalMs, send, log);
  return {
    wake: () => void send().catch((error: unknown) => log.warn({ err: error }, 'mails wait for the next look')),
    stop: async () => {
      await sweeper.stop();
      await sending?.catch(() => {});
      options.transport?.close();
    },
  };
}

type Sending = Omit<MailSenderOptions, 'intervalMs' | 'log'>;

async function sendWaiting(options: Sending, log: Log): Promise<void> {
  const { database, transport } = options;
  if (!transport) return;
  for (;;) {
    const mail = await claimMail(database, LEASE_SEC);
    if (!mail) break;
    const outcome = await attempt(options, transport, mail);
    await writeMailOutcome(database, mail.id, outcome);
    report(mail, outcome, log);
  }
  await purgeMails(database, KEPT_DAYS);
}

async function attempt({ prepare }: Sending, transport: MailTransport, mail: WaitingMail): Promise<MailOutcome> {
  try {
    const values = await (prepare[mail.kind]?.(mail) ?? mail.data);
    if (!values) return { kind: 'Obsolete' };
    await transport.send({
      ...renderMail(mail.kind, mail.language, values),
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

/** Seconds until the next attempt: 10, 20, 40, … at most an hour. */
function planPause(attempts: number): number {
  return Math.min(FIRST_PAUSE_SEC * 2 ** (attempts - 1), LONGEST_PAUSE_SEC);
}

function report({ id, kind, attempts, accountId }: WaitingMail, outcome: MailOutcome, log: Log): void {
  const what = { mailId: id, accountId, kind, attempts, failure: 'failure' in outcome ? outcome.failure : undefined };
  if (outcome.kind === 'Failed') log.error(what, 'mail given up');
  else if (outcome.kind === 'Waiting') log.warn(what, 'mail not sent, it waits');
  else log.info(what, outcome.kind === 'Sent' ? 'mail sent' : 'mail not needed any more');
}
