/** The shape of what mails say. Placeholders such as `{userName}` are filled when a mail is sent. */
export interface MailText {
  readonly subject: string;
  /** Paragraphs before the button. */
  readonly lines: readonly string[];
  /** Label of the link `{link}`; absent where there is nothing to follow. */
  readonly button?: string;
  /** Paragraphs after it. */
  readonly closing: readonly string[];
}

/** One text per kind of mail. */
export interface MailTexts {
  readonly invitation: MailText;
  readonly temporary_password: MailText;
  readonly account_added: MailText;
  readonly password_reset: MailText;
  readonly password_changed: MailText;
  readonly webhook_disabled: MailText;
}

export type MailKind = keyof MailTexts;
