/**
 * Adds narrow no-break spaces and plural forms to the French texts. The source files contain plain spaces, because most
 * editors do not make narrow no-break spaces visible.
 */

/** U+202F, the narrow no-break space. */
const THIN = '\u202F';

/**
 * @returns the texts with narrow no-break spaces in place of the plain spaces before `; : ! ? »` and after `«`. Each
 * plural gets a form `_many`, equal to `_other`. CLDR selects `_many` for whole millions; without this form, i18next
 * would use the English text.
 */
export function finishFrench<Texts extends object>(texts: Texts): Texts {
  const entries = Object.entries(texts).flatMap(([name, value]: [string, unknown]) => {
    const finished = typeof value === 'string' ? space(value) : finishFrench(value as object);
    const many = name.endsWith('_other') ? [[name.replace(/_other$/, '_many'), finished] as const] : [];
    return [[name, finished] as const, ...many];
  });
  return Object.fromEntries(entries) as Texts;
}

function space(text: string): string {
  return text.replace(/ ([;:!?»])/g, `${THIN}$1`).replaceAll('« ', `«${THIN}`);
}
