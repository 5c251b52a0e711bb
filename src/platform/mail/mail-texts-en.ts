import type { MailTexts } from './mail-text.ts';

export const MAIL_TEXTS_EN: MailTexts = {
  invitation: {
    subject: 'Invitation to {accountName}',
    lines: ['Hello,', '{inviterName} invites you to work in the account {accountName}.'],
    button: 'Accept the invitation',
    closing: ['The link works once, until {expiry}. If you do not know what this is about, simply ignore this mail.'],
  },
  temporary_password: {
    subject: 'Your access',
    lines: [
      'Hello {name},',
      'You can now sign in. Your user name is {userName}, your temporary password is {password}',
      'When you sign in for the first time you will be asked to choose a password of your own.',
    ],
    button: 'Sign in',
    closing: ['Please do not forward this mail.'],
  },
  account_added: {
    subject: 'Access to {accountName}',
    lines: ['Hello {name},', 'You now have access to the account {accountName}. You sign in as before, as {userName}.'],
    button: 'Sign in',
    closing: [],
  },
  password_reset: {
    subject: 'Choose a new password',
    lines: ['Hello {name},', 'A new password was asked for the user {userName}.'],
    button: 'Choose a new password',
    closing: [
      'The link works once, until {expiry}. If you did not expect this mail, simply ignore it: nothing changes.',
    ],
  },
  password_changed: {
    subject: 'Your password was changed',
    lines: ['Hello {name},', 'The password of the user {userName} was changed on {date}.'],
    closing: ['If this was not you, please tell the manager of your account at once.'],
  },
  webhook_disabled: {
    subject: 'The webhook {webhookName} was disabled',
    lines: [
      'Hello {name},',
      'The webhook {webhookName} of the account {accountName} was disabled: {reason}',
      'Its receiver is {url}. Nothing is sent there until the webhook is enabled again.',
    ],
    closing: [],
  },
};
