/**
 * Measures an import of 100,000 variables, a tenth of them calculated: its duration against a limit of one minute; the
 * memory growth of the importer, whose heap is limited; and the peak memory of the process that reads the document.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiClient } from '../../support/fixtures/sign-in.ts';
import { childrenOf } from '../../support/processes.ts';
import { memoryGrowth, memoryOf } from '../load/memory-growth.ts';
import { type Figure, figure } from '../report.ts';

const SOURCES = 1000;
const VARIABLES_OF_SOURCE = 100;
const CALCULATED_EVERY = 10;
const LIMIT_MS = 60_000;
const GROWTH_MB = 200;
const READER_MB = 300;
const POLL_MS = 100;

/** Limits the heap of the service: an importer that held the whole document in memory would crash. */
export const IMPORT_ENVIRONMENT = { NODE_OPTIONS: '--max-old-space-size=200' };

export interface ImportBench {
  readonly api: ApiClient;
  readonly pid: number;
}

/** Measures an import that the client `api` sends. The process `pid` must run the roles api and ingester. */
export async function benchImport({ api, pid }: ImportBench): Promise<readonly Figure[]> {
  const raw = JSON.stringify(makeDocument());
  let readerMb = 0;
  let tookMs = 0;
  const growthMb = await memoryGrowth(pid, async () => {
    const startMs = performance.now();
    const { id } = await api.call<{ readonly id: string }>('POST', '/structure/import', undefined, { raw });
    while (!(await isCompleted(api, id))) {
      readerMb = Math.max(readerMb, ...childrenOf(pid).map((child) => peakOf(child)));
      await pause(POLL_MS);
    }
    tookMs = performance.now() - startMs;
  });
  const name = `import of ${SOURCES * VARIABLES_OF_SOURCE} variables, ${(raw.length / 1e6).toFixed(0)} MB of JSON`;
  return [
    figure(name, 'of a minute', 'ms', [[tookMs, LIMIT_MS]]),
    figure(`${name}: growth of the importer's memory`, 'of the limit', 'MB', [[growthMb, GROWTH_MB]]),
    figure(`${name}: memory of the reader`, 'of the limit', 'MB', [[readerMb, READER_MB]]),
  ];
}

/** @returns true when the import is Completed. @throws {Error} when the import ended in another state. */
async function isCompleted(api: ApiClient, id: string): Promise<boolean> {
  const { state } = await api.call<{ readonly state: string }>('GET', `/structure/import/${id}`);
  if (state === 'Completed') return true;
  if (state === 'Queued' || state === 'Processing') return false;
  throw new Error(`the import ended as ${state}`);
}

/** @returns the peak resident memory of a child in MB; 0 when the child has ended. */
function peakOf(child: number): number {
  try {
    return memoryOf(child, 'VmHWM') || 0;
  } catch {
    return 0;
  }
}

function makeDocument() {
  const home = (source: number) => ({ siteName: 'Plant', sourceSerialNumber: `IMPORT-${source}` });
  return {
    sites: [{ name: 'Plant', timeZoneId: 'Europe/Brussels' }],
    sources: Array.from({ length: SOURCES }, (_, source) => ({
      ...{ siteName: 'Plant', serialNumber: `IMPORT-${source}`, name: `Meter ${source}` },
    })),
    variables: Array.from({ length: SOURCES * VARIABLES_OF_SOURCE }, (_, index) => ({
      ...home(Math.floor(index / VARIABLES_OF_SOURCE)),
      ...{ mappingConfig: `m-${index}`, name: `Variable ${index}`, granularity: 15, granularityTimeBase: 'Minute' },
      ...(index % CALCULATED_EVERY === 1 && { calculated: calculatedFrom(index - 1) }),
    })),
  };
}

function calculatedFrom(index: number) {
  const input = { alias: 'a', mappingConfig: `m-${index}`, periodType: 'RelativeDate', period: 1 };
  const variables = [{ ...input, periodTimeBase: 'Hour', canBeUsedAsATrigger: true }];
  return { calculatedVariableFormulas: [{ formula: 'list(TimeSeries = inputVariables$a$TimeSeries)', variables }] };
}
