/**
 * Texts of the emails about passwords: the link to choose a new password (R-B11), and the notice of a changed password
 * (R-B13).
 */
import type { MailTexts, MailTranslations } from '../../platform/mail/mail-text.ts';

const PASSWORD_RESET: MailTranslations = {
  en: {
    subject: 'Choose a new password',
    lines: ['Hello {name},', 'A new password was requested for the user {userName}.'],
    button: 'Choose a new password',
    closing: ['The link works once, until {expiry}. If you did not expect this email, ignore it: nothing changes.'],
  },
  fr: {
    subject: 'Choisissez un nouveau mot de passe',
    lines: ['Bonjour {name},', 'Un nouveau mot de passe a été demandé pour l’utilisateur {userName}.'],
    button: 'Choisir un nouveau mot de passe',
    closing: [
      'Le lien ne fonctionne qu’une fois, jusqu’au {expiry}. Si vous n’attendiez pas ce message, ignorez-le\u202f: rien ne change.',
    ],
  },
  nl: {
    subject: 'Kies een nieuw wachtwoord',
    lines: ['Hallo {name},', 'Er is een nieuw wachtwoord aangevraagd voor de gebruiker {userName}.'],
    button: 'Nieuw wachtwoord kiezen',
    closing: [
      'De link werkt één keer, tot {expiry}. Had u deze e-mail niet verwacht, negeer de e-mail dan: er verandert niets.',
    ],
  },
  de: {
    subject: 'Wählen Sie ein neues Passwort',
    lines: ['Guten Tag {name},', 'Für den Benutzer {userName} wurde ein neues Passwort angefordert.'],
    button: 'Neues Passwort wählen',
    closing: [
      'Der Link funktioniert einmal, bis {expiry}. Wenn Sie diese E-Mail nicht erwartet haben, ignorieren Sie sie: Es ändert sich nichts.',
    ],
  },
};

const PASSWORD_CHANGED: MailTranslations = {
  en: {
    subject: 'Your password was changed',
    lines: ['Hello {name},', 'The password of the user {userName} was changed on {date}.'],
    closing: ['If you did not make this change, contact the manager of your account immediately.'],
  },
  fr: {
    subject: 'Votre mot de passe a été modifié',
    lines: ['Bonjour {name},', 'Le mot de passe de l’utilisateur {userName} a été modifié le {date}.'],
    closing: ['Si vous ne l’avez pas modifié, prévenez immédiatement le gestionnaire de votre compte.'],
  },
  nl: {
    subject: 'Uw wachtwoord is gewijzigd',
    lines: ['Hallo {name},', 'Het wachtwoord van de gebruiker {userName} is gewijzigd op {date}.'],
    closing: ['Hebt u het niet gewijzigd, neem dan meteen contact op met de manager van uw account.'],
  },
  de: {
    subject: 'Ihr Passwort wurde geändert',
    lines: ['Guten Tag {name},', 'Das Passwort des Benutzers {userName} wurde am {date} geändert.'],
    closing: ['Wenn Sie es nicht geändert haben, wenden Sie sich bitte sofort an den Manager Ihres Kontos.'],
  },
};

export const PASSWORD_MAIL_TEXTS = {
  password_reset: PASSWORD_RESET,
  password_changed: PASSWORD_CHANGED,
} as const satisfies MailTexts;
