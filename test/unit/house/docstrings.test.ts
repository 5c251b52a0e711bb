/**
 * Every exported function in the .ts files of src has a docstring. When the function's own body has a `throw`
 * statement, the docstring has @throws.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parseAst } from 'vitest/node';

const CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url));
const SOURCES = globSync('src/**/*.ts', { cwd: CHECKOUT });
const DOCSTRING = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/;
const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly [member: string]: unknown;
}

interface ExportedFunction {
  /** File and name of the function, as in `src/file.ts#name`. */
  readonly name: string;
  readonly docstring: string;
  /** True when the body has a `throw` statement that is not in a nested function. */
  readonly hasThrow: boolean;
}

const functions = SOURCES.flatMap((file) => {
  const text = readFileSync(join(CHECKOUT, file), 'utf8');
  return exportedFunctions(file, text);
});

function exportedFunctions(file: string, text: string): readonly ExportedFunction[] {
  const { body } = parseAst(text, { lang: 'ts' }) as unknown as { readonly body: readonly SyntaxNode[] };
  const overloads = new Map<string, string>();
  return body.flatMap(({ type, start, declaration }) => {
    if (type !== 'ExportNamedDeclaration' || !isNode(declaration)) return [];
    const docstring = DOCSTRING.exec(text.slice(0, start))?.[0] ?? '';
    return namedFunctions(declaration).flatMap(([id, node]) => {
      const name = `${file}#${id}`;
      const documented = overloads.get(name) || docstring;
      overloads.set(name, documented);
      return node.type === 'TSDeclareFunction' ? [] : [{ name, docstring: documented, hasThrow: throws(node.body) }];
    });
  });
}

function namedFunctions(declaration: SyntaxNode): readonly (readonly [string, SyntaxNode])[] {
  const nodes = declaration.type === 'VariableDeclaration' ? (declaration.declarations as SyntaxNode[]) : [declaration];
  return nodes.flatMap((node) => {
    const value = node.type === 'VariableDeclarator' ? node.init : node;
    const isFunction = isNode(value) && (FUNCTIONS.has(value.type) || value.type === 'TSDeclareFunction');
    return isFunction ? [[String((node.id as SyntaxNode).name), value] as const] : [];
  });
}

function throws(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(throws);
  if (!isNode(value) || FUNCTIONS.has(value.type)) return false;
  return value.type === 'ThrowStatement' || Object.values(value).some(throws);
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value;
}

test('docstrings: the scan finds exported functions, the docstring of an overloaded function, and throw statements outside nested functions', () => {
  const text = `/** A header. */
    import x from 'x';
    /** First. */
    export function f(a: number): void;
    export function f(a: string): void { throw a; }
    export const g = () => { const h = () => { throw x; }; return h; };`;
  expect(exportedFunctions('a.ts', text)).toEqual([
    { name: 'a.ts#f', docstring: expect.stringContaining('First.'), hasThrow: true },
    { name: 'a.ts#g', docstring: '', hasThrow: false },
  ]);
  expect(functions.length).toBeGreaterThan(SOURCES.length);
});

test('docstrings: every exported function in a .ts file of src has a docstring', () => {
  expect(functions.filter(({ docstring }) => docstring === '').map(({ name }) => name)).toEqual([]);
});

test('docstrings: an exported function in a .ts file of src has @throws in its docstring when its own body throws', () => {
  const silent = functions.filter(({ docstring, hasThrow }) => hasThrow && !docstring.includes('@throws'));
  expect(silent.map(({ name }) => name)).toEqual([]);
});
