import type { MailTexts } from './mail-text.ts';

export const MAIL_TEXTS_DE: MailTexts = {
  invitation: {
    subject: 'Einladung zu {accountName}',
    lines: ['Guten Tag,', '{inviterName} lädt Sie ein, im Konto {accountName} mitzuarbeiten.'],
    button: 'Einladung annehmen',
    closing: [
      'Der Link gilt einmal, bis {expiry}. Wenn Sie nicht wissen, worum es geht, ignorieren Sie diese E-Mail einfach.',
    ],
  },
  temporary_password: {
    subject: 'Ihr Zugang',
    lines: [
      'Guten Tag {name},',
      'Sie können sich jetzt anmelden. Ihr Benutzername ist {userName}, Ihr vorläufiges Passwort ist {password}',
      'Bei der ersten Anmeldung werden Sie gebeten, ein eigenes Passwort zu wählen.',
    ],
    button: 'Anmelden',
    closing: ['Bitte leiten Sie diese E-Mail nicht weiter.'],
  },
  account_added: {
    subject: 'Zugang zu {accountName}',
    lines: [
      'Guten Tag {name},',
      'Sie haben jetzt Zugang zum Konto {accountName}. Sie melden sich wie bisher an, als {userName}.',
    ],
    button: 'Anmelden',
    closing: [],
  },
  password_reset: {
    subject: 'Wählen Sie ein neues Passwort',
    lines: ['Guten Tag {name},', 'Für den Benutzer {userName} wurde ein neues Passwort angefordert.'],
    button: 'Neues Passwort wählen',
    closing: [
      'Der Link gilt einmal, bis {expiry}. Wenn Sie diese E-Mail nicht erwartet haben, ignorieren Sie sie einfach: Es ändert sich nichts.',
    ],
  },
  password_changed: {
    subject: 'Ihr Passwort wurde geändert',
    lines: ['Guten Tag {name},', 'Das Passwort des Benutzers {userName} wurde am {date} geändert.'],
    closing: ['Wenn Sie das nicht waren, wenden Sie sich bitte sofort an den Verwalter Ihres Kontos.'],
  },
  webhook_disabled: {
    subject: 'Der Webhook {webhookName} wurde abgeschaltet',
    lines: [
      'Guten Tag {name},',
      'Der Webhook {webhookName} des Kontos {accountName} wurde abgeschaltet: {reason}',
      'Sein Empfänger ist {url}. Dorthin wird nichts mehr gesendet, bis der Webhook wieder eingeschaltet wird.',
    ],
    closing: [],
  },
};
