/** The manual of the R package is made by roxygen2 from the comments; here is noticed when it no longer fits the functions (R-H4). */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../../r-runtime/${path}`, import.meta.url), 'utf8');
const squeeze = (text: string | undefined) => text?.replaceAll(/\s+/g, ' ').replaceAll(/\( | \)/g, (it) => it.trim());

const exported = [...read('NAMESPACE').matchAll(/^export\((\w+)\)$/gm)].map(([, name = '']) => name).sort();

test('every function scripts may use is exported and has its page, and nothing else has (R-H4)', () => {
  const marked = [...read('R/toolbox.R').matchAll(/#' @export\n(\w+) <- function/g)].map(([, name]) => name).sort();
  expect(exported).toEqual(marked);
  const pages = readdirSync(new URL('../../../r-runtime/man/', import.meta.url)).sort();
  expect(pages).toEqual(exported.map((name) => `${name}.Rd`));
});

test.each(exported)('the page of %s shows the arguments it takes', (name) => {
  const page = read(`man/${name}.Rd`);
  const [, usage] = /\\usage\{\n([\s\S]*?)\n\}\n/.exec(page) ?? [];
  const [, taken] = new RegExp(`^${name} <- function(\\([\\s\\S]*?\\)) \\{$`, 'm').exec(read('R/toolbox.R')) ?? [];
  expect(squeeze(usage)).toBe(squeeze(`${name}${taken}`));
});
