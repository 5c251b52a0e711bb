/** Functions for benchmarks that upload files with quarter-hourly rows over HTTP. */
import type { Database } from '../../../src/platform/database/database.ts';
import type { ApiClient } from '../../support/fixtures/sign-in.ts';
import { createVariable } from '../../support/fixtures/structure.ts';
import type { Delays } from '../load/event-loop.ts';

const QUARTER_MILLIS = 900_000;
const START_MILLIS = Date.UTC(2024, 0, 1);
const POLL_INTERVAL_MS = 5;

export const XLSX_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** The measured service, and connections to its database. */
export interface FileService {
  readonly database: Database;
  readonly api: ApiClient;
  readonly pid: number;
  /** @returns the delays of the service's event loop since the previous call. */
  readonly readDelays: () => Promise<Delays>;
}

export const dateAt = (index: number) => new Date(START_MILLIS + index * QUARTER_MILLIS);
export const valueAt = (index: number) => ((index * 7919) % 100_000) / 100;

export async function createVariables(api: ApiClient, sourceId: number, count: number): Promise<readonly number[]> {
  const variableIds: number[] = [];
  for (let index = 0; index < count; index += 1) variableIds.push(await createVariable(api, sourceId));
  return variableIds;
}

export interface UploadOutcome {
  /** Time from the request until the last point of the file is committed. */
  readonly seconds: number;
  readonly delays: Delays;
}

/**
 * Uploads a file and waits until it is ingested.
 * @param rows number of rows below the header.
 * @throws Error unless all rows are ingested.
 */
export async function upload(
  { database, api, readDelays }: FileService,
  filename: string,
  type: string,
  content: Uint8Array,
  rows: number,
): Promise<UploadOutcome> {
  const raw = new Uint8Array(content);
  await readDelays();
  const startMs = performance.now();
  const headers = { 'content-type': type };
  const id = await api.call<string>('POST', `/storage?filename=${filename}`, undefined, { raw, headers });
  // Polls the database: polling the service would load the measured process.
  while (!(await isOver(database, id))) await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  const seconds = (performance.now() - startMs) / 1000;
  const delays = await readDelays();
  const status = await api.call<{ readonly counts: { readonly ingested: number } }>('GET', `/storage/${id}`);
  if (status.counts.ingested !== rows) throw new Error(`${rows} rows must be ingested, got ${JSON.stringify(status)}`);
  return { seconds, delays };
}

async function isOver(database: Database, id: string): Promise<boolean> {
  const query = 'select from stored_file where id = $1 and completed_date is not null';
  return (await database.query(query, [id])).rowCount === 1;
}
