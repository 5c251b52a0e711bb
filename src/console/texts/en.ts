/** Texts in English, which the other languages translate. */
export const en = {
  shell: { skip: 'Skip to content', navigation: 'Main', home: 'Home', find: 'Find' },
  user: {
    menu: 'Menu of {{name}}',
    accounts: 'Account',
    language: 'Language',
    colours: 'Colours',
    scheme: { light: 'Light', dark: 'Dark', auto: 'As the system' },
    password: 'Change password',
    signOut: 'Sign out',
    signOutEverywhere: 'Sign out everywhere',
  },
  role: { ADMIN: 'Administrator', MANAGER: 'Manager', USER: 'User' },
  problem: { title: 'That did not work', request: '(request {{id}})', retry: 'Try again' },
  missing: { title: 'Page not found', text: 'No page has this address.', home: 'Go to Home' },
  signedOut: { title: 'You are signed out', failed: 'Signing in did not work', again: 'Sign in' },
};

/** Every text of a language, by the same names. */
export type Texts = TextsOf<typeof en>;
type TextsOf<Node> = { readonly [Name in keyof Node]: Node[Name] extends string ? string : TextsOf<Node[Name]> };
