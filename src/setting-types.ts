/**
 * Types of settings. The error text of a type states its rule ("must be an integer from …"). Only config.ts and
 * intake-settings.ts use this file.
 */

import { z } from 'zod';
import { parseRange } from './platform/address-ranges.ts';
import { jsonPath } from './platform/http/lenient.ts';
import { parseJsonText } from './platform/json/json-text.ts';

/** A setting: its type and default (`schema`), its description, and whether its value is secret. */
export interface Setting<T extends z.ZodType> {
  readonly schema: T;
  readonly doc: string;
  readonly isSecret?: true;
}

/** Declares a setting. @param doc description for `.env.example`. */
export const setting = <T extends z.ZodType>(schema: T, doc: string): Setting<T> => ({ schema, doc });
/** Declares a setting whose value never appears in errors. @param doc description for `.env.example`. */
export const secret = <T extends z.ZodType>(schema: T, doc: string): Setting<T> => ({ schema, doc, isSecret: true });

/** Type of a setting that is an integer from `min` to `max`, both inclusive. */
export const integer = (min: number, max: number) => {
  const error = `must be an integer from ${min} to ${max}`;
  return z.coerce.number({ error }).int({ error }).min(min, { error }).max(max, { error });
};
/** Type of a setting whose value is one of `names`. */
export const choice = <const T extends readonly string[]>(names: T) =>
  z.enum(names, { error: `must be one of ${names.join(', ')}` });
export const flag = choice(['true', 'false']).transform((text) => text === 'true');
export const identifier = z
  .string()
  .regex(/^[\w-]+$/, { error: 'must consist of the characters A-Z, a-z, 0-9, "_" and "-"' });
/** Type of a setting with comma-separated elements; empty elements are dropped. */
export const list = z.string().transform((text) => text.split(',').flatMap((part) => part.trim() || []));
/** Type of a setting with comma-separated origins of pages, or `*`. */
export const origins = list.refine((texts) => texts.every((text) => text === '*' || URL.parse(text)?.origin === text), {
  error:
    'must be * or comma-separated origins such as https://app.example.com; an origin is in lower case, without a path and without a default port',
});
/** Type of a setting with comma-separated numbers from `min` to `max`, both inclusive. */
export const numbers = (min: number, max: number) =>
  list
    .refine((texts) => texts.every((text) => Number(text) >= min && Number(text) <= max), {
      error: `must be comma-separated numbers from ${min} to ${max}`,
    })
    .transform((texts) => texts.map(Number));
export const webUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' });
/** Type of a setting that is a URL whose scheme is one of `schemes`. @param schemes the schemes without `://`. */
export const serverUrl = (...schemes: readonly string[]) =>
  z.url({
    protocol: new RegExp(`^(${schemes.join('|')})$`),
    error: `must be a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
  });

/** Type of a setting with comma-separated keys `ID:BASE64`; ids must differ, and a key must have 32 bytes. */
export const vaultKeys = list.transform((texts, context) => {
  const keys = texts.map((text) => {
    const [, id = '', base64 = ''] = /^([\w-]+):([\w+/=-]+)$/.exec(text) ?? [];
    return { id, key: Buffer.from(base64, 'base64') };
  });
  const ids = keys.map(({ id }) => id);
  const wrong = keys.findIndex(({ id, key }, at) => id === '' || key.length !== 32 || ids.indexOf(id) < at);
  if (wrong >= 0) {
    const rule =
      'must be comma-separated keys of the form ID:BASE64; ids must differ, and BASE64 must encode 32 bytes, such as the output of openssl rand -base64 32';
    context.addIssue({ code: 'custom', message: `${rule}; key ${wrong + 1} of ${keys.length} is wrong` });
  }
  return keys;
});

/** Type of a setting with comma-separated CIDR ranges; an address without a prefix length is a range of one address. */
export const addressRanges = list.transform((texts, context) =>
  texts.flatMap((text) => {
    const range = parseRange(text);
    if (!range) {
      context.addIssue({ code: 'custom', message: 'must be comma-separated CIDR ranges such as 127.0.0.0/8,::1' });
    }
    return range ?? [];
  }),
);

const issuers = z.array(z.strictObject({ issuer: z.url(), jwksUri: z.url(), audience: z.string().min(1) }));
export const trustedIssuers = z.string().transform((text, context) => {
  const json = parseJson(text);
  const { data, error } = issuers.safeParse(json);
  if (data) return data;
  const rule =
    'must be a JSON array of objects with exactly the members issuer (a URL), jwksUri (a URL) and audience (a non-empty string)';
  const fault =
    json === undefined ? 'the value is not JSON' : `${jsonPath('$', error?.issues[0]?.path ?? [])} is wrong`;
  context.addIssue({ code: 'custom', message: `${rule}; ${fault}` });
  return z.NEVER;
});

function parseJson(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch {
    return undefined;
  }
}
