/**
 * Replays recorded requests of existing clients (`test/fixtures/clients`). In each answer, checks only the members that
 * these clients read. Knows nothing about the product except its URL.
 */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { eventually } from '../eventually.ts';

/** Values of placeholders by name: set before the replay, or taken from an answer. */
export type Bindings = Map<string, string>;

interface Recording {
  readonly client: string;
  /** Headers of every request that does not list headers itself. */
  readonly headers: Readonly<Record<string, string>>;
  readonly exchanges: readonly Exchange[];
}

interface Exchange {
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  readonly answer: { readonly status: number; readonly headers?: Record<string, string>; readonly body?: unknown };
  /**
   * True when the replay must repeat the request until the actual answer matches `answer`: points become readable, and
   * files are processed, some time after the API accepted them.
   */
  readonly eventually?: boolean;
}

const PLACEHOLDER = /\{\{(\w+)\}\}/g;
const WHOLE_PLACEHOLDER = /^\{\{(\w+)\}\}$/;
const FORM = 'application/x-www-form-urlencoded';

export function readRecording(name: string): Recording {
  return JSON.parse(readFileSync(new URL(`../../fixtures/clients/${name}.json`, import.meta.url), 'utf8'));
}

/** Sends the requests of a recording in turn, and fails at the first answer that the recorded client could not use. */
export async function replay({ headers, exchanges }: Recording, http: string, bindings: Bindings): Promise<void> {
  for (const [index, exchange] of exchanges.entries()) {
    const title = `${index}: ${exchange.request.method} ${exchange.request.path}`;
    const check = async () => {
      await replayOne(title, exchange, headers, http, bindings);
      return true;
    };
    if (exchange.eventually) await eventually(title, check);
    else await check();
  }
}

async function replayOne(
  title: string,
  { request, answer }: Exchange,
  common: Readonly<Record<string, string>>,
  http: string,
  bindings: Bindings,
): Promise<void> {
  const headers = request.headers ?? common;
  const encode = headers['Content-Type'] === FORM ? encodeURIComponent : undefined;
  const fill = (text: string) => fillIn(text, bindings);
  const given = await fetch(http + fill(request.path), {
    method: request.method,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)])),
    ...(request.body !== undefined && { body: fillIn(request.body, bindings, encode) }),
  });
  const text = await given.text();
  expect(given.status, `${title} ${text}`).toBe(answer.status);
  for (const [name, value] of Object.entries(answer.headers ?? {})) {
    compare(given.headers.get(name), value, bindings, `${title}, header ${name}`);
  }
  if (answer.body !== undefined) compare(JSON.parse(text), answer.body, bindings, `${title} ${text}`);
}

function fillIn(text: string, bindings: Bindings, encode = (value: string) => value): string {
  return text.replace(PLACEHOLDER, (_all, name: string) => {
    const value = bindings.get(name);
    if (value === undefined) throw new Error(`no answer has given ${name} a value`);
    return encode(value);
  });
}

/**
 * Compares an actual value with the expected one. An object may have more members than expected. Placeholders:
 * - `{{more}}` at the end of a list: more items may follow.
 * - `{{absent}}`: the object lacks the member.
 * - `{{any}}`: any value except null.
 * - a name that ends with `Token`: any value, which is remembered under this name.
 * - any other name: any value at the first use, which is remembered; later the same value.
 */
function compare(actual: unknown, expected: unknown, bindings: Bindings, what: string): void {
  if (typeof expected === 'string') compareText(actual, expected, bindings, what);
  else if (Array.isArray(expected)) compareList(actual, expected, bindings, what);
  else if (typeof expected === 'object' && expected !== null) compareObject(actual, expected, bindings, what);
  else expect(actual, what).toBe(expected);
}

function compareObject(actual: unknown, expected: object, bindings: Bindings, what: string): void {
  expect(actual, what).toBeTypeOf('object');
  for (const [name, value] of Object.entries(expected)) {
    const member = (actual as Record<string, unknown>)[name];
    if (value === '{{absent}}') expect(actual, what).not.toHaveProperty(name);
    else compare(member, value, bindings, `${name} of ${what}`);
  }
}

function compareList(actual: unknown, expected: readonly unknown[], bindings: Bindings, what: string): void {
  const isOpen = expected.at(-1) === '{{more}}';
  const items = isOpen ? expected.slice(0, -1) : expected;
  expect(Array.isArray(actual), what).toBe(true);
  const list = actual as unknown[];
  if (!isOpen) expect(list, what).toHaveLength(items.length);
  for (const [index, item] of items.entries()) compare(list[index], item, bindings, `[${index}] of ${what}`);
}

function compareText(actual: unknown, expected: string, bindings: Bindings, what: string): void {
  const name = WHOLE_PLACEHOLDER.exec(expected)?.[1];
  if (name === undefined) {
    expect(actual, what).toBe(expected);
    return;
  }
  expect(actual ?? undefined, what).toBeDefined();
  if (name === 'any') return;
  if (name.endsWith('Token') || !bindings.has(name)) bindings.set(name, String(actual));
  expect(String(actual), what).toBe(bindings.get(name));
}
