/** Texts of the emails about accounts: invitation, temporary password, access to another account (R-B10). */
import type { MailTexts, MailTranslations } from '../../platform/mail/mail-text.ts';

const INVITATION: MailTranslations = {
  en: {
    subject: 'Invitation to {accountName}',
    lines: ['Hello,', '{inviterName} invites you to join the account {accountName}.'],
    button: 'Accept the invitation',
    closing: ['The link works once, until {expiry}. If you did not expect this invitation, ignore this email.'],
  },
  fr: {
    subject: 'Invitation à rejoindre {accountName}',
    lines: ['Bonjour,', '{inviterName} vous invite à rejoindre le compte {accountName}.'],
    button: 'Accepter l’invitation',
    closing: [
      'Le lien ne fonctionne qu’une fois, jusqu’au {expiry}. Si vous n’attendiez pas cette invitation, ignorez ce message.',
    ],
  },
  nl: {
    subject: 'Uitnodiging voor {accountName}',
    lines: ['Hallo,', '{inviterName} nodigt u uit voor het account {accountName}.'],
    button: 'Uitnodiging accepteren',
    closing: ['De link werkt één keer, tot {expiry}. Had u deze uitnodiging niet verwacht, negeer de e-mail dan.'],
  },
  de: {
    subject: 'Einladung zu {accountName}',
    lines: ['Guten Tag,', '{inviterName} lädt Sie in das Konto {accountName} ein.'],
    button: 'Einladung annehmen',
    closing: [
      'Der Link funktioniert einmal, bis {expiry}. Wenn Sie diese Einladung nicht erwartet haben, ignorieren Sie diese E-Mail.',
    ],
  },
};

const TEMPORARY_PASSWORD: MailTranslations = {
  en: {
    subject: 'Your access',
    lines: [
      'Hello {name},',
      'You can now sign in. Your user name is {userName}, your temporary password is {password}',
      'At your first sign-in you choose your own password.',
    ],
    button: 'Sign in',
    closing: ['Do not forward this email.'],
  },
  fr: {
    subject: 'Votre accès',
    lines: [
      'Bonjour {name},',
      'Vous pouvez maintenant vous connecter. Votre nom d’utilisateur est {userName}, votre mot de passe provisoire est {password}',
      'Lors de votre première connexion, vous choisirez votre propre mot de passe.',
    ],
    button: 'Se connecter',
    closing: ['Ne transférez pas ce message.'],
  },
  nl: {
    subject: 'Uw toegang',
    lines: [
      'Hallo {name},',
      'U kunt zich nu aanmelden. Uw gebruikersnaam is {userName}, uw tijdelijke wachtwoord is {password}',
      'Bij de eerste aanmelding kiest u uw eigen wachtwoord.',
    ],
    button: 'Aanmelden',
    closing: ['Stuur deze e-mail niet door.'],
  },
  de: {
    subject: 'Ihr Zugang',
    lines: [
      'Guten Tag {name},',
      'Sie können sich jetzt anmelden. Ihr Benutzername ist {userName}, Ihr vorläufiges Passwort ist {password}',
      'Bei der ersten Anmeldung wählen Sie ein eigenes Passwort.',
    ],
    button: 'Anmelden',
    closing: ['Bitte leiten Sie diese E-Mail nicht weiter.'],
  },
};

const ACCOUNT_ADDED: MailTranslations = {
  en: {
    subject: 'Access to {accountName}',
    lines: ['Hello {name},', 'You now have access to the account {accountName}. Sign in as {userName}, as before.'],
    button: 'Sign in',
    closing: [],
  },
  fr: {
    subject: 'Accès à {accountName}',
    lines: [
      'Bonjour {name},',
      'Vous avez désormais accès au compte {accountName}. Connectez-vous comme auparavant, en tant que {userName}.',
    ],
    button: 'Se connecter',
    closing: [],
  },
  nl: {
    subject: 'Toegang tot {accountName}',
    lines: [
      'Hallo {name},',
      'U hebt nu toegang tot het account {accountName}. Meld u aan zoals voorheen, als {userName}.',
    ],
    button: 'Aanmelden',
    closing: [],
  },
  de: {
    subject: 'Zugang zu {accountName}',
    lines: [
      'Guten Tag {name},',
      'Sie haben jetzt Zugang zum Konto {accountName}. Melden Sie sich wie bisher als {userName} an.',
    ],
    button: 'Anmelden',
    closing: [],
  },
};

export const ACCOUNT_MAIL_TEXTS = {
  invitation: INVITATION,
  temporary_password: TEMPORARY_PASSWORD,
  account_added: ACCOUNT_ADDED,
} as const satisfies MailTexts;
