/** Texts in French. */
import type { Texts } from './en.ts';

export const fr: Texts = {
  shell: { skip: 'Aller au contenu', navigation: 'Principal', home: 'Accueil', find: 'Rechercher' },
  user: {
    menu: 'Menu de {{name}}',
    accounts: 'Compte',
    language: 'Langue',
    colours: 'Couleurs',
    scheme: { light: 'Clair', dark: 'Sombre', auto: 'Comme le système' },
    password: 'Changer de mot de passe',
    signOut: 'Se déconnecter',
    signOutEverywhere: 'Se déconnecter partout',
  },
  role: { ADMIN: 'Administrateur', MANAGER: 'Gestionnaire', USER: 'Utilisateur' },
  problem: { title: 'Cela n’a pas fonctionné', request: '(requête {{id}})', retry: 'Réessayer' },
  missing: { title: 'Page introuvable', text: 'Aucune page n’a cette adresse.', home: 'Aller à l’accueil' },
  signedOut: { title: 'Vous êtes déconnecté', failed: 'La connexion a échoué', again: 'Se connecter' },
};
