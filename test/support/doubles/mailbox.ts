/** SMTP server on loopback that parses and keeps the emails it receives, unless a test makes it refuse them. */
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { eventually } from '../eventually.ts';

export interface ReceivedMail extends Email {
  /** Addresses of the SMTP envelope, not of the header. */
  readonly receivers: readonly string[];
}

export interface Mailbox {
  /** Value for SMTP_URL. */
  readonly url: string;
  /** The received emails, in the order of arrival. */
  readonly mails: readonly ReceivedMail[];
  /** Waits for the `count`th email to an address. */
  next(address: string, count?: number): Promise<ReceivedMail>;
  /** Refuses the next `times` emails with the SMTP code `code`. */
  refuse(code: number, times: number): void;
  /**
   * Receives the next email, but delays the SMTP reply. @returns a function that refuses this email with an SMTP code.
   */
  hang(): (code: number) => void;
  close(): Promise<void>;
}

export async function openMailbox(): Promise<Mailbox> {
  const mails: ReceivedMail[] = [];
  let refusal = { code: 0, times: 0 };
  let hanging: Promise<number> | undefined;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData: (stream, session, callback) => {
      buffer(stream)
        .then(async (raw) => {
          if (refusal.times > 0) {
            refusal = { ...refusal, times: refusal.times - 1 };
            throw Object.assign(new Error('refused by the test'), { responseCode: refusal.code });
          }
          const receivers = session.envelope.rcptTo.map(({ address }) => address);
          const verdict = hanging;
          hanging = undefined;
          mails.push({ ...(await PostalMime.parse(raw)), receivers });
          if (verdict) throw Object.assign(new Error('refused late by the test'), { responseCode: await verdict });
        })
        .then(() => callback(), callback);
    },
  });
  // When a process of the service is killed, its connection is reset and this server emits `error`. Without a listener,
  // that event would end the test run.
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    next: (address, count = 1) =>
      eventually(`mail ${count} to ${address}`, async () =>
        mails.filter(({ receivers }) => receivers.includes(address)).at(count - 1),
      ),
    refuse: (code, times) => {
      refusal = { code, times };
    },
    hang: () => {
      const { promise, resolve } = Promise.withResolvers<number>();
      hanging = promise;
      return resolve;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** @returns the first link in an email; an empty string when the email contains no link. */
export function linkIn({ text }: Email): string {
  return /https?:\/\/\S+/.exec(text ?? '')?.[0] ?? '';
}

/** @returns the temporary password in an email; an empty string when the email contains no temporary password. */
export function passwordIn({ text }: Email): string {
  return /\b\w{5}-\w{5}-\w{5}\b/.exec(text ?? '')?.[0] ?? '';
}
