import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PASSWORD_MAIL_TEXTS } from '../../../src/identity/passwords/password-mail-texts.ts';
import { type Database, openDatabase, withTransaction } from '../../../src/platform/database/database.ts';
import { createLog, type Log } from '../../../src/platform/log.ts';
import { claimMail, type NewMail, queueMail, writeMailOutcome } from '../../../src/platform/mail/mail-outbox.ts';
import { type PrepareMail, startMailSender } from '../../../src/platform/mail/mail-sender.ts';
import { openMailTransport } from '../../../src/platform/mail/mail-transport.ts';
import { type Mailbox, openMailbox } from '../../support/doubles/mailbox.ts';
import { eventually } from '../../support/eventually.ts';
import { addAccount } from '../../support/fixtures/accounts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/services/stack.ts';

const LOG = createLog('silent', 'test');
let test: TestDatabase;
let database: Database;
let mailbox: Mailbox;
beforeAll(async () => {
  test = await createTestDatabase();
  database = openDatabase({ url: test.url, poolSize: 5, applicationName: 'test', log: LOG });
  mailbox = await openMailbox();
});
afterAll(async () => {
  await mailbox.close();
  await database.end();
  await test.drop();
});

interface SenderOptions {
  readonly smtpUrl?: string | undefined;
  readonly directory?: string;
  readonly prepare?: PrepareMail;
  readonly log?: Log;
}

/** Starts a mail sender with a short polling interval. */
function startSender({ smtpUrl = mailbox.url, directory, prepare, log = LOG }: SenderOptions = {}) {
  const where = { smtpUrl: directory === undefined ? smtpUrl : undefined, directory };
  const transport = openMailTransport({ ...where, from: 'service@tidemark.example', log: LOG });
  return startMailSender({
    database,
    transport,
    texts: PASSWORD_MAIL_TEXTS,
    prepare: prepare ? { password_changed: prepare } : {},
    intervalMs: 20,
    log,
  });
}

const mailTo = (to: string, more: Partial<NewMail> = {}): NewMail => ({
  ...{ kind: 'password_changed', to, language: 'en', data: { name: 'N', userName: 'n', date: 'today' } },
  ...more,
});

async function stateOf(to: string) {
  const { rows } = await database.query<{ state: string; attempts: number; failure: string | null }>(
    'select state, attempts, failure from mail where to_address = $1',
    [to],
  );
  return rows[0];
}

const untilState = (to: string, state: string) =>
  eventually(`mail to ${to} ${state}`, async () => {
    const found = await stateOf(to);
    return found?.state === state && found;
  });
const makeDue = (to: string) => database.query('update mail set not_before_date = now() where to_address = $1', [to]);

describe('accounts: an email', () => {
  it('is sent as text and HTML, in the recipient’s language, with the account’s sender name (R-B10)', async () => {
    const accountId = await addAccount(database, 'North');
    await database.query(
      `update account set email_sender_name = 'North "&" Co', email_reply_to = 'help@north.example' where id = $1`,
      [accountId],
    );
    await queueMail(database, mailTo('one@x.example', { language: 'nl-BE', accountId }));
    const sender = startSender();
    const mail = await mailbox.next('one@x.example');
    await sender.stop();
    expect(mail).toMatchObject({
      subject: 'Uw wachtwoord is gewijzigd',
      from: { name: 'North "&" Co', address: 'service@tidemark.example' },
      replyTo: [{ address: 'help@north.example' }],
      to: [{ address: 'one@x.example' }],
    });
    expect(mail.text).toContain('Het wachtwoord van de gebruiker n is gewijzigd op today.');
    expect(mail.html).toContain('<html lang="nl">');
    expect(mail.headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-generated');
    expect(await stateOf('one@x.example')).toMatchObject({ state: 'Sent', attempts: 1, failure: null });
  });

  it('is not queued when its transaction is rolled back (R-B10)', async () => {
    const failing = withTransaction(database, async (transaction) => {
      await queueMail(transaction, mailTo('undone@x.example'));
      throw new Error('undone');
    });
    await expect(failing).rejects.toThrow('undone');
    expect(await stateOf('undone@x.example')).toBeUndefined();
  });

  it('is sent only once when several senders run concurrently (R-B10)', async () => {
    const addresses = Array.from({ length: 12 }, (_, index) => `many${index}@x.example`);
    for (const address of addresses) await queueMail(database, mailTo(address));
    const senders = [startSender(), startSender(), startSender()];
    for (const address of addresses) await mailbox.next(address);
    for (const address of addresses) await untilState(address, 'Sent');
    await Promise.all(senders.map((sender) => sender.stop()));
    for (const address of addresses) {
      expect(mailbox.mails.filter(({ receivers }) => receivers.includes(address))).toHaveLength(1);
    }
  });

  it('waits while the mail server is down or busy, and is sent later with its stored Message-ID (R-B10)', async () => {
    await queueMail(database, mailTo('later@x.example'));
    const away = startSender({ smtpUrl: 'smtp://127.0.0.1:1' });
    await eventually('the first attempt', async () => (await stateOf('later@x.example'))?.failure !== null);
    await away.stop();
    expect(await stateOf('later@x.example')).toMatchObject({ state: 'Waiting', attempts: 1 });
    mailbox.refuse(451, 1);
    await makeDue('later@x.example');
    const sender = startSender();
    await eventually('the second attempt', async () => (await stateOf('later@x.example'))?.attempts === 2);
    await eventually('its end', async () => (await stateOf('later@x.example'))?.failure?.includes('refused'));
    await makeDue('later@x.example');
    const mail = await mailbox.next('later@x.example');
    await untilState('later@x.example', 'Sent');
    await sender.stop();
    const { rows } = await database.query<{ message_id: string }>(
      `select message_id from mail where to_address = 'later@x.example'`,
    );
    expect(mail.messageId).toBe(`<${rows[0]?.message_id}@tidemark.example>`);
  });

  it('waits when TLS is required and the mail server does not offer it (R-B10)', async () => {
    await queueMail(database, mailTo('sealed@x.example'));
    const careful = startSender({ smtpUrl: `${mailbox.url}?requireTLS=true` });
    await eventually('the attempt', async () => (await stateOf('sealed@x.example'))?.failure?.includes('STARTTLS'));
    await careful.stop();
    expect(await stateOf('sealed@x.example')).toMatchObject({ state: 'Waiting', attempts: 1 });
    expect(mailbox.mails.filter(({ receivers }) => receivers.includes('sealed@x.example'))).toEqual([]);
    await database.query(`delete from mail where to_address = 'sealed@x.example'`);
  });

  it('is given up after a permanent refusal, and the reason is stored (R-B10)', async () => {
    mailbox.refuse(550, 1);
    await queueMail(database, mailTo('bad@x.example'));
    const sender = startSender();
    expect((await untilState('bad@x.example', 'Failed')).failure).toContain('refused by the test');
    await sender.stop();
  });

  it('is sent by another process when the lease of a stalled process ends; the stalled process cannot record a result (R-B10, R-K3)', async () => {
    await queueMail(database, mailTo('orphan@x.example'));
    const orphan = await claimMail(database, 60_000);
    if (orphan?.to !== 'orphan@x.example') throw new Error('the email was not claimed');
    const sender = startSender();
    await queueMail(database, mailTo('behind@x.example'));
    await mailbox.next('behind@x.example');
    expect(await stateOf('orphan@x.example')).toMatchObject({ state: 'Waiting', attempts: 1 });
    await makeDue('orphan@x.example');
    await mailbox.next('orphan@x.example');
    await untilState('orphan@x.example', 'Sent');
    await sender.stop();
    expect(await writeMailOutcome(database, orphan, { kind: 'Failed', failure: 'late' })).toBe(false);
    expect(await stateOf('orphan@x.example')).toMatchObject({ state: 'Sent', attempts: 2, failure: null });
  });

  it('is sent after its delay, even if the sender restarts meanwhile (R-B12, R-K2)', async () => {
    const before = startSender();
    await queueMail(database, mailTo('delayed@x.example', { delayHours: 1 }));
    await queueMail(database, mailTo('first@x.example'));
    await mailbox.next('first@x.example');
    await before.stop();
    await makeDue('delayed@x.example');
    expect(mailbox.mails.some(({ receivers }) => receivers.includes('delayed@x.example'))).toBe(false);
    const after = startSender();
    await mailbox.next('delayed@x.example');
    await untilState('delayed@x.example', 'Sent');
    await after.stop();
  });

  it('is not sent when it has become obsolete (R-B10)', async () => {
    await queueMail(database, mailTo('obsolete@x.example'));
    const sender = startSender({ prepare: async () => undefined });
    await untilState('obsolete@x.example', 'Obsolete');
    await sender.stop();
    expect(mailbox.mails.some(({ receivers }) => receivers.includes('obsolete@x.example'))).toBe(false);
  });

  it('causes a warning if it is deleted while it is being sent (R-B10)', async () => {
    await queueMail(database, mailTo('deleted@x.example'));
    const ids: number[] = [];
    const prepare: PrepareMail = async ({ id, data }) => {
      ids.push(id);
      await database.query('delete from mail where id = $1', [id]);
      return data;
    };
    const warn = vi.fn();
    const sender = startSender({ prepare, log: { ...LOG, warn } as unknown as Log });
    await mailbox.next('deleted@x.example');
    await eventually('the warning', async () => warn.mock.calls.length > 0);
    await sender.stop();
    const fields = expect.objectContaining({ mailId: ids[0], kind: 'password_changed', outcome: 'Sent' });
    expect(warn).toHaveBeenCalledWith(fields, expect.stringContaining('lease lost or row deleted'));
  });

  it('waits when neither a mail server nor MAIL_DIRECTORY is configured (R-B10)', async () => {
    const sender = startMailSender({
      ...{ database, transport: undefined, texts: PASSWORD_MAIL_TEXTS, prepare: {}, intervalMs: 20, log: LOG },
    });
    await queueMail(database, mailTo('nowhere@x.example'));
    sender.wake();
    await sender.stop();
    expect(await stateOf('nowhere@x.example')).toMatchObject({ state: 'Waiting', attempts: 0 });
  });

  it('is written as a file when MAIL_DIRECTORY is configured instead of a mail server (R-B10)', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'tidemark-mail-'));
    try {
      await queueMail(database, mailTo('local@x.example'));
      const sender = startSender({ directory });
      await untilState('local@x.example', 'Sent');
      await sender.stop();
      const files = await readdir(directory);
      const raws = await Promise.all(files.map((file) => readFile(join(directory, file))));
      const mails = await Promise.all(raws.map((raw) => PostalMime.parse(raw)));
      expect(mails.map(({ to }) => to?.[0]?.address)).toContain('local@x.example');
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
