/** Writes a program that reads the shown points: curl, R, Python. Pure. */
import type { PointQuery } from '../../api/download.ts';

export type Language = 'curl' | 'R' | 'Python';

/** @param api public address of the API. The token is read from the environment variable TOKEN. */
export function toSnippet(language: Language, api: string, query: PointQuery): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined);
  const pairs = entries.map(([name, value]) => [name, String(value)] as const);
  switch (language) {
    case 'curl':
      return [
        `curl --get ${shellQuote(`${api}/data`)}`,
        `--header "Authorization: Bearer $TOKEN" --header 'Accept: text/csv'`,
        ...pairs.map(([name, value]) => `--data-urlencode ${shellQuote(`${name}=${value}`)}`),
      ].join(' \\\n  ');
    case 'R':
      return [
        'library(httr2)',
        `points <- request(${quote(`${api}/data`)}) |>`,
        '  req_auth_bearer_token(Sys.getenv("TOKEN")) |>',
        `  req_url_query(${[...pairs, ['format', 'csv'] as const].map(([name, value]) => `${name} = ${quote(value)}`).join(', ')}) |>`,
        '  req_perform() |>',
        '  resp_body_string() |>',
        '  read.csv(text = _)',
      ].join('\n');
    case 'Python':
      return [
        'import io, os',
        'import pandas, requests',
        '',
        'answer = requests.get(',
        `    ${quote(`${api}/data`)},`,
        `    params={${[...pairs, ['format', 'csv'] as const].map(([name, value]) => `${quote(name)}: ${quote(value)}`).join(', ')}},`,
        '    headers={"Authorization": "Bearer " + os.environ["TOKEN"]},',
        ')',
        'answer.raise_for_status()',
        'points = pandas.read_csv(io.StringIO(answer.text))',
      ].join('\n');
  }
}

/** Writes a curl command that pushes one point of this moment. @param push public address of push. */
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

/** Quotes a text. A JSON string is also a string of R and of Python. */
function quote(text: string): string {
  return JSON.stringify(text);
}
