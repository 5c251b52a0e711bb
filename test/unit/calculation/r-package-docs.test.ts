/**
 * Tests that the manual of the R package has a page for each exported function, and that the page shows the arguments
 * of the function (R-H4). roxygen2 generates the manual.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../../r-runtime/${path}`, import.meta.url), 'utf8');
const squeeze = (text: string | undefined) => text?.replaceAll(/\s+/g, ' ').replaceAll(/\( | \)/g, (it) => it.trim());

const exported = [...read('NAMESPACE').matchAll(/^export\((\w+)\)$/gm)].map(([, name = '']) => name).sort();

test('R package: exactly the functions marked @export in toolbox.R are exported and have a manual page (R-H4)', () => {
  const marked = [...read('R/toolbox.R').matchAll(/#' @export\n(\w+) <- function/g)].map(([, name]) => name).sort();
  expect(exported).toEqual(marked);
  const pages = readdirSync(new URL('../../../r-runtime/man/', import.meta.url)).sort();
  expect(pages).toEqual(exported.map((name) => `${name}.Rd`));
});

test.each(exported)('R package: the manual page of %s shows its arguments (R-H4)', (name) => {
  const page = read(`man/${name}.Rd`);
  const [, usage] = /\\usage\{\n([\s\S]*?)\n\}\n/.exec(page) ?? [];
  const [, taken] = new RegExp(`^${name} <- function(\\([\\s\\S]*?\\)) \\{$`, 'm').exec(read('R/toolbox.R')) ?? [];
  expect(squeeze(usage)).toBe(squeeze(`${name}${taken}`));
});
