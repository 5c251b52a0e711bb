/**
 * Selects the language of the console: the language that the person chose, or else the first of the browser's languages
 * that LANGUAGES contains, or else English. The texts in `en.ts` are built in. The texts in `fr.ts`, `de.ts` or `nl.ts`
 * are loaded when the console changes to that language.
 */
import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { en } from './en.ts';
import { finishFrench } from './french.ts';

export const LANGUAGES = { en: 'English', fr: 'Français', de: 'Deutsch', nl: 'Nederlands' } as const;
export type Language = keyof typeof LANGUAGES;

const KEY = 'tidemark.language';

/** Starts i18next in the language of the user. */
export async function startTexts(): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: 'en',
    fallbackLng: 'en',
    resources: { en: { translation: en } },
    // React escapes texts itself.
    interpolation: { escapeValue: false },
  });
  // Numbers in texts, such as `{{count, number}}`, get the separators of the person's region.
  i18next.services.formatter?.add('number', (value: number) => formatNumber(value));
  await changeLanguage(chosenLanguage());
}

/** Shows the console in a language and keeps the choice in this browser. */
export async function chooseLanguage(language: Language): Promise<void> {
  localStorage.setItem(KEY, language);
  await changeLanguage(language);
}

/** @returns the language that the console is shown in. */
export function currentLanguage(): Language {
  return i18next.language as Language;
}

/**
 * @returns the locale of dates and numbers: the first of the browser's locales that has the console's language and a
 * region. If there is none, the locale is en-GB for English, and otherwise the language without a region.
 */
export function currentLocale(): string {
  const language = currentLanguage();
  return navigator.languages.find((tag) => tag.startsWith(`${language}-`)) ?? (language === 'en' ? 'en-GB' : language);
}

/** Formats a number for the person's language and region. */
export function formatNumber(value: number, options?: Intl.NumberFormatOptions): string {
  return value.toLocaleString(currentLocale(), options);
}

function chosenLanguage(): Language {
  const wanted = [localStorage.getItem(KEY), ...navigator.languages.map((tag) => tag.slice(0, 2))];
  return wanted.find((code): code is Language => code !== null && code in LANGUAGES) ?? 'en';
}

async function changeLanguage(language: Language): Promise<void> {
  const texts = await loadTexts(language);
  i18next.addResourceBundle(language, 'translation', texts);
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
}

async function loadTexts(language: Language): Promise<object> {
  switch (language) {
    case 'en':
      return en;
    case 'fr':
      return finishFrench((await import('./fr.ts')).fr);
    case 'de':
      return (await import('./de.ts')).de;
    case 'nl':
      return (await import('./nl.ts')).nl;
  }
}
