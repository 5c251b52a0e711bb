/** Adds the texts of a variable's page. */
import { addTexts } from '../../texts/view-texts.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { fr } from './fr.ts';
import { nl } from './nl.ts';

declare module '../../texts/view-texts.ts' {
  interface ViewTexts {
    readonly variable: typeof en;
  }
}

addTexts('variable', { en, de, fr, nl });
