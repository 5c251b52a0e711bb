/** Makes and uploads Standard Files of one variable, for the bench's cases about files. */
import type { TestClient } from '../../support/clients/test-client.ts';

const START_MS = Date.UTC(2026, 0, 1);

/** @returns a CSV row whose date is `minute` minutes after the start of 2026. */
export function oneRow(variableId: number, minute: number): string {
  return `${variableId},${new Date(START_MS + 60_000 * minute).toISOString()},${minute}\n`;
}

/** @returns the id of the file. @throws {Error} unless the answer is 200. */
export async function uploadCsv(client: TestClient, rows: string): Promise<string> {
  const raw = Buffer.from(`variable_id,date,value\n${rows}`);
  const headers = { 'content-type': 'text/csv' };
  const { status, body } = await client.send<string>('POST', '/storage?filename=a.csv', undefined, { raw, headers });
  if (status !== 200) throw new Error(`POST /storage: ${status} ${JSON.stringify(body)}`);
  return body;
}
