/**
 * Checks the console's texts: the texts of the four languages have the same names and placeholders, the typography is
 * right, and every text is used.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { finishFrench } from '../../../src/console/texts/french.ts';

type Texts = Readonly<Record<string, string>>;

const CONSOLE = fileURLToPath(new URL('../../../src/console', import.meta.url));
const FOLDERS = globSync('**/texts/en.ts', { cwd: CONSOLE }).map(dirname);
const OTHERS = ['fr', 'de', 'nl'] as const;
const PLURAL = /_(?:zero|one|other)$/;

/** The texts of each language; the key of a text is `folder: dotted.name`. */
const texts: Record<string, Texts> = {};

function flatten(node: object, path: string): (readonly [string, string])[] {
  return Object.entries(node).flatMap(([name, value]: [string, unknown]) => {
    const full = path === '' ? name : `${path}.${name}`;
    return typeof value === 'string' ? [[full, value] as const] : flatten(value as object, full);
  });
}

async function load(language: string): Promise<Texts> {
  const all = await Promise.all(
    FOLDERS.map(async (folder) => {
      const bundle = await import(/* @vite-ignore */ join(CONSOLE, folder, `${language}.ts`));
      return flatten(bundle[language], '').map(([name, text]) => [`${folder}: ${name}`, text] as const);
    }),
  );
  return Object.fromEntries(all.flat());
}

/** @returns `name = text` for each text in which `rule` finds a mistake. */
function broken(language: string, rule: RegExp): readonly string[] {
  return Object.entries(texts[language] ?? {}).flatMap(([name, text]) =>
    rule.test(text) ? [`${name} = ${text}`] : [],
  );
}

beforeAll(async () => {
  for (const language of ['en', ...OTHERS]) texts[language] = await load(language);
});

describe('console texts: names, placeholders and counts', () => {
  test('the tests read more than 400 English texts from at least six folders', () => {
    expect(FOLDERS.length).toBeGreaterThanOrEqual(6);
    expect(Object.keys(texts.en ?? {}).length).toBeGreaterThan(400);
  });

  test.each(OTHERS)('the texts in the language %s have the same names as the English texts', (language) => {
    expect(Object.keys(texts[language] ?? {}).sort()).toEqual(Object.keys(texts.en ?? {}).sort());
  });

  test.each(OTHERS)(
    'the texts in the language %s have the placeholders and formats of the English texts, except in plural forms for 0 and 1',
    (language) => {
      const placeholders = (text: string | undefined) => (text?.match(/\{\{.*?\}\}/g) ?? []).sort();
      // Plural forms for 0 and 1 may have the number as a word in place of the placeholder, so they are not compared.
      const names = Object.keys(texts.en ?? {}).filter((name) => !/_(?:zero|one)$/.test(name));
      const differing = names.filter(
        (name) => String(placeholders(texts[language]?.[name])) !== String(placeholders(texts.en?.[name])),
      );
      expect(differing).toEqual([]);
    },
  );

  test('English texts for counts of 2 or more write the count as `{{count, number}}`, never as the unformatted `{{count}}`', () => {
    const unformatted = Object.entries(texts.en ?? {}).filter(
      ([name, text]) => name.endsWith('_other') && text.includes('{{count}}'),
    );
    expect(unformatted).toEqual([]);
  });
});

describe('console texts: typography', () => {
  test('French texts have curly apostrophes, guillemets, a space before ; : ! and ?, and no space before an ellipsis', () => {
    expect(broken('fr', /\p{L}'\p{L}|[“”„"]| …/u)).toEqual([]);
    // `Authorization:` is the name of a header, so no space precedes its colon. The source texts have plain spaces;
    // finishFrench replaces these with narrow no-break spaces.
    expect(broken('fr', /[^\s][;?!»](?!\d)|(?<!\s|Authorization):(?!\S)|«\S|[\u00A0\u202F]/u)).toEqual([]);
  });

  test('German texts use the quotation marks „ and “', () => {
    expect(broken('de', /["”«»]|„[^“]*$|^[^„]*“/u)).toEqual([]);
  });

  test.each(['en', 'nl'])(
    'texts in %s have no straight or low double quotation marks, no guillemets, no straight apostrophe in a word, and no space before an ellipsis',
    (language) => {
      expect(broken(language, /["„«»]|\p{L}'\p{L}|\p{L} …/u)).toEqual([]);
    },
  );

  test('`finishFrench` replaces the spaces at punctuation with narrow no-break spaces, and adds the plural form that French uses for millions', () => {
    const finished = finishFrench({ a: { points_other: '« {{count}} points » : lus ; oui !' } });
    expect(finished).toEqual({
      a: Object.fromEntries(
        ['other', 'many'].map((form) => [
          `points_${form}`,
          '«\u202F{{count}} points\u202F»\u202F: lus\u202F; oui\u202F!',
        ]),
      ),
    });
    expect(finishFrench({ hint: 'Authorization: Bearer' })).toEqual({ hint: 'Authorization: Bearer' });
  });
});

describe('console texts: no text is unused', () => {
  test('the code contains the name of each text, or a template literal whose fixed beginning is a prefix of the name', () => {
    const files = globSync('**/*.{ts,tsx}', {
      cwd: CONSOLE,
      exclude: (file) => /\/texts\/(?:en|fr|de|nl)\.ts$/.test(file),
    });
    const code = files.map((file) => readFileSync(join(CONSOLE, file), 'utf8')).join('\n');
    const literals = new Set([...code.matchAll(/['"`]([\w.]+)['"`]/g)].map(([, text]) => text ?? ''));
    const templates = [...code.matchAll(/`([\w.]+\.)\$\{/g)].map(([, text]) => text ?? '');
    const unused = Object.keys(texts.en ?? {}).filter((name) => {
      const dotted = (name.split(': ')[1] ?? '').replace(PLURAL, '');
      return !literals.has(dotted) && !templates.some((start) => dotted.startsWith(start));
    });
    expect(unused).toEqual([]);
  });
});
