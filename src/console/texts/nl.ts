/** Texts in Dutch. */
import type { Texts } from './en.ts';

export const nl: Texts = {
  shell: { skip: 'Naar de inhoud', navigation: 'Hoofdmenu', home: 'Overzicht', find: 'Zoeken' },
  user: {
    menu: 'Menu van {{name}}',
    accounts: 'Account',
    language: 'Taal',
    colours: 'Kleuren',
    scheme: { light: 'Licht', dark: 'Donker', auto: 'Zoals het systeem' },
    password: 'Wachtwoord wijzigen',
    signOut: 'Afmelden',
    signOutEverywhere: 'Overal afmelden',
  },
  role: { ADMIN: 'Beheerder', MANAGER: 'Manager', USER: 'Gebruiker' },
  problem: { title: 'Dat is niet gelukt', request: '(verzoek {{id}})', retry: 'Opnieuw proberen' },
  missing: { title: 'Pagina niet gevonden', text: 'Geen enkele pagina heeft dit adres.', home: 'Naar het overzicht' },
  signedOut: { title: 'U bent afgemeld', failed: 'Aanmelden is niet gelukt', again: 'Aanmelden' },
};
