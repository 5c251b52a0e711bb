/** Texts in German. */
import type { Texts } from './en.ts';

export const de: Texts = {
  shell: { skip: 'Zum Inhalt springen', navigation: 'Hauptnavigation', home: 'Übersicht', find: 'Suchen' },
  user: {
    menu: 'Menü von {{name}}',
    accounts: 'Konto',
    language: 'Sprache',
    colours: 'Farben',
    scheme: { light: 'Hell', dark: 'Dunkel', auto: 'Wie das System' },
    password: 'Passwort ändern',
    signOut: 'Abmelden',
    signOutEverywhere: 'Überall abmelden',
  },
  role: { ADMIN: 'Administrator', MANAGER: 'Verwalter', USER: 'Benutzer' },
  problem: { title: 'Das hat nicht funktioniert', request: '(Anfrage {{id}})', retry: 'Erneut versuchen' },
  missing: { title: 'Seite nicht gefunden', text: 'Keine Seite hat diese Adresse.', home: 'Zur Übersicht' },
  signedOut: { title: 'Sie sind abgemeldet', failed: 'Die Anmeldung ist fehlgeschlagen', again: 'Anmelden' },
};
