/**
 * Measures how much the memory of an API process grows during long answers (R-G4). For each format, a new process sends
 * two answers over HTTP to a fast client. Both answers are measured, because the heap of a new process grows during the
 * first one.
 */
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import type { Database } from '../../../src/platform/database/database.ts';
import type { ApiClient } from '../../support/fixtures/sign-in.ts';
import { createSiteAndSource, createVariable } from '../../support/fixtures/structure.ts';
import { type Figure, figure } from '../report.ts';

const VARIABLES = 50;
const POINTS_OF_EACH = 100_000;
const MEBIBYTE = 2 ** 20;
const MOST_GROWTH = 150;
const SAMPLE_MS = 5;
const FORMATS = ['text/csv', 'application/vnd.apache.arrow.stream', 'application/json'];

export interface MeasuredService {
  readonly api: ApiClient;
  readonly http: string;
  readonly pid: number;
}

/** Runs a function against a newly started API process. */
export type WithFreshService = <Result>(bench: (service: MeasuredService) => Promise<Result>) => Promise<Result>;

export async function benchAnswers(database: Database, withService: WithFreshService): Promise<readonly Figure[]> {
  const sourceId = await withService(({ api }) => addPoints(database, api));
  const figures: Figure[] = [];
  for (const accept of FORMATS) {
    figures.push(
      ...(await withService(async (service) => [
        await benchAnswer(service, sourceId, accept, 'first'),
        await benchAnswer(service, sourceId, accept, 'second'),
      ])),
    );
  }
  return figures;
}

async function benchAnswer(
  { api, http, pid }: MeasuredService,
  sourceId: number,
  accept: string,
  which: string,
): Promise<Figure> {
  const token = api.token ?? '';
  const work = () => readAll(`${http}/data?sourceId=${sourceId}`, { accept, authorization: `Bearer ${token}` });
  const { growth, seconds, bytes } = await growthOf(pid, work);
  const size = `${seconds.toFixed(1)} s, ${Math.round(bytes / MEBIBYTE)} MiB`;
  const name = `${which} answer of 5 million points as ${accept}, ${size}`;
  return figure(name, 'growth of the API process, of the allowed growth', 'MiB', [[growth / MEBIBYTE, MOST_GROWTH]]);
}

/** @returns the number of bytes of the answer. */
function readAll(address: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(address, { headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${address}: ${response.statusCode}`));
      let bytes = 0;
      response.on('data', (piece: Buffer) => {
        bytes += piece.length;
      });
      response.on('end', () => resolve(bytes));
      response.on('error', reject);
    });
    request.on('error', reject);
  });
}

async function growthOf(
  pid: number,
  work: () => Promise<number>,
): Promise<{ readonly growth: number; readonly seconds: number; readonly bytes: number }> {
  const before = residentBytes(pid);
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, residentBytes(pid));
  }, SAMPLE_MS);
  const startMs = performance.now();
  try {
    const bytes = await work();
    return { growth: most - before, seconds: (performance.now() - startMs) / 1000, bytes };
  } finally {
    clearInterval(timer);
  }
}

/** @returns the resident memory of a process, from /proc. */
function residentBytes(pid: number): number {
  const [, kibibytes = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}

/** @returns the id of the source whose variables hold the points. */
async function addPoints(database: Database, api: ApiClient): Promise<number> {
  const { sourceId } = await createSiteAndSource(api);
  const variableIds: number[] = [];
  for (let index = 0; index < VARIABLES; index += 1) variableIds.push(await createVariable(api, sourceId));
  await database.query(
    `insert into point select timestamptz '2025-01-01' + n * interval '1 minute', n, now(), id, 0, 0
     from unnest($1::int[]) id, generate_series(1, $2::int) n`,
    [variableIds, POINTS_OF_EACH],
  );
  return sourceId;
}
