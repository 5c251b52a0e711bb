/** Delivers emails to an SMTP server or, on a developer's machine, into a directory. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import nodemailer from 'nodemailer';
import type { Log } from '../log.ts';
import type { RenderedMail } from './mail-render.ts';

export interface OutgoingMail extends RenderedMail {
  readonly id: number;
  readonly to: string;
  /** Display name of the sender. */
  readonly senderName?: string | undefined;
  readonly replyTo?: string | undefined;
  /** The part before the @ in the Message-ID of the email. */
  readonly messageId: string;
}

export interface MailTransport {
  /**
   * @throws {MailRefusedError} when the server refuses this email permanently; after any other
   * error, a retry may succeed.
   */
  send(mail: OutgoingMail): Promise<void>;
  close(): void;
}

/** The mail server refused this email permanently. */
export class MailRefusedError extends Error {
  override readonly name = 'MailRefusedError';
}

export interface MailTransportOptions {
  /** URL of the mail server, smtp:// or smtps://, with credentials if the server needs them. */
  readonly smtpUrl: string | undefined;
  /** Directory to which emails are written when no mail server is configured. */
  readonly directory: string | undefined;
  /** Address of the sender of the emails. */
  readonly from: string;
  readonly log: Log;
}

const CONNECT_TIMEOUT_MS = 10_000;
const SILENCE_TIMEOUT_MS = 30_000;
const CONTENT_COMMANDS = /^(RCPT TO|DATA|MAIL FROM)/;

/** @returns undefined when neither a mail server nor a directory is configured. */
export function openMailTransport(options: MailTransportOptions): MailTransport | undefined {
  const { smtpUrl, directory } = options;
  if (smtpUrl !== undefined) return openSmtp(smtpUrl, options.from);
  return directory === undefined ? undefined : openDirectory(directory, options);
}

function openSmtp(url: string, from: string): MailTransport {
  const transport = nodemailer.createTransport({
    url,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
  });
  return {
    send: async (mail) => {
      try {
        await transport.sendMail(toMessage(mail, from));
      } catch (error) {
        throw isRefused(error) ? new MailRefusedError((error as Error).message, { cause: error }) : error;
      }
    },
    close: () => transport.close(),
  };
}

/**
 * Returns true when the server rejects the sender, a recipient or the content permanently (5xx). Returns false for a
 * refused sign-in, because the email can be sent after the setting is corrected.
 */
function isRefused(error: unknown): boolean {
  const { responseCode = 0, command = '' } = error as { responseCode?: number; command?: string };
  return responseCode >= 500 && CONTENT_COMMANDS.test(command);
}

function openDirectory(directory: string, { from, log }: MailTransportOptions): MailTransport {
  const transport = nodemailer.createTransport({ streamTransport: true, buffer: true });
  return {
    send: async (mail) => {
      const { message } = await transport.sendMail(toMessage(mail, from));
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const file = join(directory, `${String(mail.id).padStart(6, '0')}-${mail.messageId}.eml`);
      await writeFile(file, message as Buffer, { mode: 0o600 });
      // The email may contain a password or a link with a token, so its text is not logged (R-K4).
      log.info({ mailId: mail.id, file }, 'mail written');
    },
    close: () => transport.close(),
  };
}

function toMessage(mail: OutgoingMail, from: string) {
  const domain = from.slice(from.lastIndexOf('@') + 1);
  return {
    from: mail.senderName ? { name: mail.senderName, address: from } : from,
    // Addresses are passed as objects: a manager may have typed them, and a string could be parsed as a list of
    // recipients.
    to: { name: '', address: mail.to },
    ...(mail.replyTo && { replyTo: { name: '', address: mail.replyTo } }),
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    messageId: `<${mail.messageId}@${domain}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
