import type { MailTexts } from './mail-text.ts';

export const MAIL_TEXTS_NL: MailTexts = {
  invitation: {
    subject: 'Uitnodiging voor {accountName}',
    lines: ['Hallo,', '{inviterName} nodigt u uit om in het account {accountName} te werken.'],
    button: 'De uitnodiging aanvaarden',
    closing: ['De link werkt één keer, tot {expiry}. Weet u niet waarover dit gaat, negeer deze mail dan gewoon.'],
  },
  temporary_password: {
    subject: 'Uw toegang',
    lines: [
      'Hallo {name},',
      'U kunt zich nu aanmelden. Uw gebruikersnaam is {userName}, uw tijdelijke wachtwoord is {password}',
      'Wanneer u zich voor het eerst aanmeldt, wordt u gevraagd zelf een wachtwoord te kiezen.',
    ],
    button: 'Aanmelden',
    closing: ['Stuur deze mail niet door.'],
  },
  account_added: {
    subject: 'Toegang tot {accountName}',
    lines: [
      'Hallo {name},',
      'U hebt nu toegang tot het account {accountName}. U meldt zich aan zoals voorheen, als {userName}.',
    ],
    button: 'Aanmelden',
    closing: [],
  },
  password_reset: {
    subject: 'Kies een nieuw wachtwoord',
    lines: ['Hallo {name},', 'Er is een nieuw wachtwoord gevraagd voor de gebruiker {userName}.'],
    button: 'Een nieuw wachtwoord kiezen',
    closing: [
      'De link werkt één keer, tot {expiry}. Had u deze mail niet verwacht, negeer hem dan gewoon: er verandert niets.',
    ],
  },
  password_changed: {
    subject: 'Uw wachtwoord is gewijzigd',
    lines: ['Hallo {name},', 'Het wachtwoord van de gebruiker {userName} is gewijzigd op {date}.'],
    closing: ['Was u dit niet, verwittig dan meteen de beheerder van uw account.'],
  },
  webhook_disabled: {
    subject: 'De webhook {webhookName} is uitgeschakeld',
    lines: [
      'Hallo {name},',
      'De webhook {webhookName} van het account {accountName} is uitgeschakeld: {reason}',
      'De ontvanger is {url}. Daar wordt niets meer naartoe gestuurd tot de webhook weer is ingeschakeld.',
    ],
    closing: [],
  },
};
