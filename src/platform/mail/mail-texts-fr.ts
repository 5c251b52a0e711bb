import type { MailTexts } from './mail-text.ts';

export const MAIL_TEXTS_FR: MailTexts = {
  invitation: {
    subject: 'Invitation à rejoindre {accountName}',
    lines: ['Bonjour,', '{inviterName} vous invite à travailler dans le compte {accountName}.'],
    button: 'Accepter l’invitation',
    closing: [
      'Le lien ne fonctionne qu’une fois, jusqu’au {expiry}. Si vous ne savez pas de quoi il s’agit, ignorez simplement ce message.',
    ],
  },
  temporary_password: {
    subject: 'Votre accès',
    lines: [
      'Bonjour {name},',
      'Vous pouvez maintenant vous connecter. Votre nom d’utilisateur est {userName}, votre mot de passe provisoire est {password}',
      'Lors de votre première connexion, il vous sera demandé de choisir votre propre mot de passe.',
    ],
    button: 'Se connecter',
    closing: ['Merci de ne pas transférer ce message.'],
  },
  account_added: {
    subject: 'Accès à {accountName}',
    lines: [
      'Bonjour {name},',
      'Vous avez désormais accès au compte {accountName}. Vous vous connectez comme auparavant, en tant que {userName}.',
    ],
    button: 'Se connecter',
    closing: [],
  },
  password_reset: {
    subject: 'Choisissez un nouveau mot de passe',
    lines: ['Bonjour {name},', 'Un nouveau mot de passe a été demandé pour l’utilisateur {userName}.'],
    button: 'Choisir un nouveau mot de passe',
    closing: [
      'Le lien ne fonctionne qu’une fois, jusqu’au {expiry}. Si vous n’attendiez pas ce message, ignorez-le simplement : rien ne change.',
    ],
  },
  password_changed: {
    subject: 'Votre mot de passe a été modifié',
    lines: ['Bonjour {name},', 'Le mot de passe de l’utilisateur {userName} a été modifié le {date}.'],
    closing: ['Si ce n’était pas vous, prévenez immédiatement le gestionnaire de votre compte.'],
  },
  webhook_disabled: {
    subject: 'Le webhook {webhookName} a été désactivé',
    lines: [
      'Bonjour {name},',
      'Le webhook {webhookName} du compte {accountName} a été désactivé : {reason}',
      'Son destinataire est {url}. Plus rien n’y est envoyé tant que le webhook n’est pas réactivé.',
    ],
    closing: [],
  },
};
