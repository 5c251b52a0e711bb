/**
 * The demo, on real input: half-hourly electricity demand of England and Wales in summer 2000 (`taylor` of the R
 * package forecast, after Taylor 2003). It is pushed through the public API as it would have come in: first a forecast
 * (the same half-hour a week before), then what was measured. Two calculated variables follow by themselves, hourly
 * from half-hourly and the daily peak from hourly, and are read back through gRPC.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Progress } from '../progress.ts';
import { SetupError } from '../setup-error.ts';
import type { Stack } from '../stack.ts';
import { type DemoApi, type DemoPoint, openDemoApi } from './demo-api.ts';

export interface DemoOptions {
  readonly progress: Progress;
  /** CSV of half-hourly electricity demand: a comment line, a heading, then `date,demand_mw`; undefined without R. */
  readonly taylorCsv: string | undefined;
}

const SITE_NAME = 'England and Wales';
const TIME_ZONE = 'Europe/London';
const FORECAST = 'week-ahead-forecast';
const MEASURED = 'measured';
const HALF_HOURS_OF_A_WEEK = 7 * 48;
const DAYS = 84;
const FORECAST_DAYS = DAYS - 7;
const CALCULATION_TIMEOUT_MS = 60_000;
const POLL_MS = 100;
const SHOWN_DAYS = 5;

interface Reading {
  /** On the clock of England, without a zone. */
  readonly date: string;
  readonly value: number;
}

/**
 * Loads the demo when it is not there yet.
 * @returns lines to show last: computed points as they came back through gRPC; none on a machine without R.
 * @throws SetupError when the product does not do what the demo asks of it.
 */
export async function loadDemo(stack: Stack, { progress, taylorCsv }: DemoOptions): Promise<readonly string[]> {
  if (taylorCsv === undefined) return ['The demo is left out: this machine cannot run R.'];
  const api = await openDemoApi(stack);
  try {
    const known = await findPeakVariable(api);
    const peakId = known ?? (await progress.phase('Loading the demo', () => load(api, taylorCsv)));
    const peaks = await progress.phase('Reading computed points through gRPC', () =>
      awaitPeaks(api, peakId, MEASURED, DAYS),
    );
    return describe(peaks, peakId);
  } finally {
    api.close();
  }
}

async function findPeakVariable(api: DemoApi): Promise<number | undefined> {
  const sites = await api.call<{ id: number; name: string }[]>('GET', '/sites');
  const site = sites.find(({ name }) => name === SITE_NAME);
  if (!site) return undefined;
  const [source] = await api.call<{ id: number }[]>('GET', `/sources?siteId=${site.id}`);
  const variables =
    source && (await api.call<{ id: number; name: string }[]>('GET', `/variables?sourceId=${source.id}`));
  return variables?.find(({ name }) => name === 'Daily peak')?.id;
}

/** @returns the id of the daily peak. */
async function load(api: DemoApi, taylorCsv: string): Promise<number> {
  const siteId = await api.call<number>('POST', '/sites', {
    name: SITE_NAME,
    timeZoneId: TIME_ZONE,
    country: 'United Kingdom',
  });
  const source = await api.call<{ id: number }>('POST', '/sources', {
    siteId,
    name: 'Electricity demand',
    serialNumber: 'GB-DEMAND',
  });
  const create = (variable: object) => api.call<{ id: number }>('POST', `/variables/source/${source.id}`, variable);
  const power = { unitId: null, quantityType: 'Averaged', isVersioned: true };
  const half = await create({ ...power, ...step(30, 'Minute'), name: 'Demand, MW', mappingConfig: 'demand' });
  const hourly = await create({
    ...{ ...power, ...step(1, 'Hour'), name: 'Hourly demand' },
    calculated: await declaration('Hourly demand', 'hourly-demand.R', 'half_hourly', half.id, 'Hour'),
  });
  const peak = await create({
    ...{ ...power, ...step(1, 'Day'), quantityType: 'Maximum', name: 'Daily peak' },
    calculated: await declaration('Daily peak', 'daily-peak.R', 'hourly', hourly.id, 'Day'),
  });
  const measured = parseDemand(await readFile(taylorCsv, 'utf8'));
  await push(api, FORECAST, weekAhead(measured));
  await awaitPeaks(api, peak.id, FORECAST, FORECAST_DAYS);
  await push(api, MEASURED, measured);
  return peak.id;
}

const step = (granularity: number, granularityTimeBase: string) => ({ granularity, granularityTimeBase });

async function declaration(
  friendlyName: string,
  file: string,
  alias: string,
  variableId: number,
  periodTimeBase: string,
) {
  const formula = await readFile(new URL(file, import.meta.url), 'utf8');
  const input = { alias, variableId, periodType: 'RelativeDate', period: 1, periodTimeBase, canBeUsedAsATrigger: true };
  return { friendlyName, calculatedVariableFormulas: [{ formula, variables: [input] }] };
}

function parseDemand(csv: string): readonly Reading[] {
  const rows = csv.split('\n').filter((line) => /^\d/.test(line));
  return rows.map((row) => {
    const [date = '', demand] = row.split(',');
    return { date, value: Number(demand) };
  });
}

/** The forecast anybody can make: next week is as this week. The first week has none. */
function weekAhead(measured: readonly Reading[]): readonly Reading[] {
  return measured.slice(HALF_HOURS_OF_A_WEEK).map(({ date }, index) => ({ date, value: measured[index]?.value ?? 0 }));
}

async function push(api: DemoApi, version: string, data: readonly Reading[]): Promise<void> {
  const element = { sourceSerialNumber: 'GB-DEMAND', mappingConfig: 'demand', version, data };
  await api.call('POST', `/api/data?operationId=demo-${version}`, [element]);
}

/** Waits until that many days have their peak under the version. */
async function awaitPeaks(api: DemoApi, peakId: number, version: string, days: number): Promise<readonly DemoPoint[]> {
  const deadlineMs = Date.now() + CALCULATION_TIMEOUT_MS;
  for (;;) {
    const peaks = await api.readPoints(peakId);
    if (peaks.filter((peak) => peak.version === version).length >= days) return peaks;
    if (Date.now() > deadlineMs) {
      const [run] = await api.call<unknown[]>('GET', `/variables/${peakId}/runs`);
      throw new SetupError(
        `The demo was not computed in ${CALCULATION_TIMEOUT_MS / 1000} s. Last run: ${JSON.stringify(run)}`,
      );
    }
    await delay(POLL_MS);
  }
}

function describe(peaks: readonly DemoPoint[], peakId: number): readonly string[] {
  const day = new Intl.DateTimeFormat('en-CA', { timeZone: TIME_ZONE });
  const rows = peaks.slice(-SHOWN_DAYS).map(({ date, value, version, tags }) => {
    return `  ${day.format(date)}  ${value.toFixed(1)} MW at ${tags.hour}  (version ${version})`;
  });
  const heading = `Computed by R and read back through gRPC: daily peak of electricity demand, ${SITE_NAME}`;
  return [`${heading} (variable ${peakId}, ${peaks.length} days)`, ...rows];
}
