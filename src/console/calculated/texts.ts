/** The texts of calculated variables, in every language. */
import { addTexts } from '../texts/view-texts.ts';
import { de } from './texts/de.ts';
import { en } from './texts/en.ts';
import { fr } from './texts/fr.ts';
import { nl } from './texts/nl.ts';

addTexts('calculated', { en, fr, de, nl });
