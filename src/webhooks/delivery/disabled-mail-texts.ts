/** Text of the email that tells the managers of an account that the service has disabled a webhook (R-I3). */
import type { MailTexts } from '../../platform/mail/mail-text.ts';

export const WEBHOOK_MAIL_TEXTS = {
  webhook_disabled: {
    en: {
      subject: 'The webhook {webhookName} was disabled',
      lines: [
        'Hello {name},',
        'The webhook {webhookName} of the account {accountName} was disabled: {reason}',
        'Its receiver is {url}. No messages are sent there until the webhook is enabled again.',
      ],
      closing: [],
    },
    fr: {
      subject: 'Le webhook {webhookName} a été désactivé',
      lines: [
        'Bonjour {name},',
        'Le webhook {webhookName} du compte {accountName} a été désactivé : {reason}',
        'Son destinataire est {url}. Aucun message n’y est envoyé tant que le webhook n’est pas réactivé.',
      ],
      closing: [],
    },
    nl: {
      subject: 'De webhook {webhookName} is uitgeschakeld',
      lines: [
        'Hallo {name},',
        'De webhook {webhookName} van het account {accountName} is uitgeschakeld: {reason}',
        'De ontvanger is {url}. Er worden geen berichten naartoe gestuurd tot de webhook weer is ingeschakeld.',
      ],
      closing: [],
    },
    de: {
      subject: 'Der Webhook {webhookName} wurde abgeschaltet',
      lines: [
        'Guten Tag {name},',
        'Der Webhook {webhookName} des Kontos {accountName} wurde abgeschaltet: {reason}',
        'Sein Empfänger ist {url}. Dorthin wird nichts gesendet, bis der Webhook wieder eingeschaltet wird.',
      ],
      closing: [],
    },
  },
} as const satisfies MailTexts;
