/** Writes programs in curl, R and Python that read the points of a chart, and a curl command that pushes a point. */
import type { Export } from './export-rules.ts';

export type Language = 'curl' | 'R' | 'Python';

/**
 * Writes a program that makes one API call for each element of `exports`. The program reads the token from the
 * environment variable TOKEN.
 * @param api the public URL of the API.
 */
export function toSnippet(language: Language, api: string, exports: readonly Export[]): string {
  const calls = exports.map(({ path, query }, index) => ({
    address: api + path,
    pairs: Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as const],
    ),
    /** Identifier to which a program in R or Python assigns the points. */
    points: exports.length === 1 ? 'points' : `points_${index + 1}`,
  }));
  const { head, write } = WRITERS[language];
  return [...head, ...calls.map(write)].join('\n');
}

interface Call {
  readonly address: string;
  readonly pairs: readonly (readonly [string, string])[];
  readonly points: string;
}

interface Writer {
  readonly head: readonly string[];
  readonly write: (call: Call) => string;
}

const AS_CSV = ['format', 'csv'] as const;

const WRITERS: Readonly<Record<Language, Writer>> = {
  curl: {
    head: [],
    write: ({ address, pairs }) =>
      [
        `curl --fail-with-body --get ${shellQuote(address)}`,
        `--header "Authorization: Bearer $TOKEN" --header 'Accept: text/csv'`,
        ...pairs.map(([name, value]) => `--data-urlencode ${shellQuote(`${name}=${value}`)}`),
      ].join(' \\\n  '),
  },
  R: {
    head: ['library(httr2)'],
    write: ({ address, pairs, points }) =>
      [
        `${points} <- request(${quote(address)}) |>`,
        '  req_auth_bearer_token(Sys.getenv("TOKEN")) |>',
        `  req_url_query(${[...pairs, AS_CSV].map(([name, value]) => `${name} = ${quote(value)}`).join(', ')}) |>`,
        '  req_perform() |>',
        '  resp_body_string() |>',
        '  read.csv(text = _)',
      ].join('\n'),
  },
  Python: {
    head: ['import io, os', 'import pandas, requests', ''],
    write: ({ address, pairs, points }) =>
      [
        'answer = requests.get(',
        `    ${quote(address)},`,
        `    params={${[...pairs, AS_CSV].map(([name, value]) => `${quote(name)}: ${quote(value)}`).join(', ')}},`,
        '    headers={"Authorization": "Bearer " + os.environ["TOKEN"]},',
        ')',
        'answer.raise_for_status()',
        `${points} = pandas.read_csv(io.StringIO(answer.text))`,
      ].join('\n'),
  },
};

/**
 * Writes a curl command that pushes one point, dated at the start of the current minute.
 * @param push the public URL of the push API.
 */
export function toPush(push: string, variableId: number): string {
  const date = new Date(Math.floor(Date.now() / 60_000) * 60_000).toISOString().replace('.000', '');
  return [
    `curl ${shellQuote(`${push}/api/data`)}`,
    `--header "Authorization: Bearer $TOKEN" --header 'Content-Type: application/json'`,
    `--data ${shellQuote(`[{"variableId": ${variableId}, "data": [{"date": "${date}", "value": 1}]}]`)}`,
  ].join(' \\\n  ');
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Quotes a text: a JSON string is also a string literal of R and of Python. */
function quote(text: string): string {
  return JSON.stringify(text);
}
