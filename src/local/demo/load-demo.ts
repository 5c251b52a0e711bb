/**
 * Loads the demo through the public API: half-hourly electricity demand of England and Wales in summer 2000 (the data
 * set `taylor` of the R package `forecast`, after Taylor 2003). The demo first pushes a forecast, which repeats the
 * values of the week before, and then the measurement. R scripts calculate two variables, the hourly demand and the
 * daily peak. The demo reads the daily peak over gRPC.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Progress } from '../progress.ts';
import { SetupError } from '../setup-error.ts';
import type { Stack } from '../stack.ts';
import { type DemoApi, type DemoPoint, openDemoApi } from './demo-api.ts';

export interface DemoOptions {
  readonly progress: Progress;
  /**
   * Path of the CSV file of half-hourly demand (a comment, a heading, then lines `date,demand_mw`); undefined when this
   * machine cannot run R.
   */
  readonly taylorCsv: string | undefined;
}

const SITE_NAME = 'England and Wales';
const TIME_ZONE = 'Europe/London';
const SOURCE = { name: 'Electricity demand', serialNumber: 'GB-DEMAND' };
const FORECAST = 'week-ahead-forecast';
const MEASURED = 'measured';
const HALF_HOURS_PER_WEEK = 7 * 48;
const DAYS = 84;
const FORECAST_DAYS = DAYS - 7;
const CALCULATION_TIMEOUT_MS = 60_000;
const POLL_MS = 100;
const SHOWN_DAYS = 5;

interface Reading {
  /** Date in the local time of the site, without an offset. */
  readonly date: string;
  readonly value: number;
}

/**
 * Loads the demo, unless the demo is already complete. After an interrupted load, adds the missing parts.
 * @returns the closing lines of `npm start`: computed points read over gRPC, or a note that the demo is not loaded.
 * @throws {SetupError} when a request is refused or the points are not computed in time.
 */
export async function loadDemo(stack: Stack, { progress, taylorCsv }: DemoOptions): Promise<readonly string[]> {
  if (taylorCsv === undefined) return ['The demo is not loaded: this machine cannot run R.'];
  const api = await openDemoApi(stack);
  try {
    const { peakId, isNew } = await ensureStructure(api);
    if (isNew || countDays(await api.readPoints(peakId), [MEASURED]) < DAYS)
      await progress.phase('Loading the demo', () => pushReadings(api, peakId, taylorCsv));
    const peaks = await progress.phase('Reading computed points over gRPC', () =>
      awaitPeaks(api, peakId, [MEASURED], DAYS),
    );
    return describe(peaks, peakId);
  } finally {
    api.close();
  }
}

interface Named {
  readonly id: number;
  readonly name: string;
}

/** Finds the site, source and variables of the demo by name, and creates the missing ones. */
async function ensureStructure(api: DemoApi): Promise<{ readonly peakId: number; readonly isNew: boolean }> {
  const sites = await api.call<Named[]>('GET', '/sites');
  const siteId =
    sites.find(({ name }) => name === SITE_NAME)?.id ??
    (await api.call<number>('POST', '/sites', { name: SITE_NAME, timeZoneId: TIME_ZONE, country: 'United Kingdom' }));
  const sources = await api.call<Named[]>('GET', `/sources?siteId=${siteId}`);
  const source =
    sources.find(({ name }) => name === SOURCE.name) ??
    (await api.call<Named>('POST', '/sources', { siteId, ...SOURCE }));
  const variables = await api.call<Named[]>('GET', `/variables?sourceId=${source.id}`);
  let isNew = false;
  const ensure = async (variable: { readonly name: string } & Record<string, unknown>): Promise<number> => {
    const known = variables.find(({ name }) => name === variable.name);
    if (known) return known.id;
    isNew = true;
    return (await api.call<Named>('POST', `/variables/source/${source.id}`, variable)).id;
  };
  const power = { unitId: null, quantityType: 'Averaged', isVersioned: true };
  const halfHourlyId = await ensure({ ...power, ...step(30, 'Minute'), name: 'Demand, MW', mappingConfig: 'demand' });
  const hourlyId = await ensure({
    ...{ ...power, ...step(1, 'Hour'), name: 'Hourly demand' },
    calculated: await declaration('Hourly demand', 'hourly-demand.R', 'half_hourly', halfHourlyId, {
      periodTimeBase: 'Hour',
      alignTo: 'Day',
    }),
  });
  const peakId = await ensure({
    ...{ ...power, ...step(1, 'Day'), quantityType: 'Maximum', name: 'Daily peak' },
    calculated: await declaration('Daily peak', 'daily-peak.R', 'hourly', hourlyId, {
      periodTimeBase: 'Day',
      alignTo: 'Day',
    }),
  });
  return { peakId, isNew };
}

/**
 * Pushes the forecast and then the measurement. The operation ids are fixed, so a push that is repeated within 24 h
 * does not store its points again (R-D7).
 */
async function pushReadings(api: DemoApi, peakId: number, taylorCsv: string): Promise<void> {
  const measured = parseDemand(await readFile(taylorCsv, 'utf8'));
  await push(api, FORECAST, weekAhead(measured));
  // Counts the peaks of both versions: if an earlier load was interrupted, the peaks of some days may already be
  // computed from the measurement instead of the forecast.
  await awaitPeaks(api, peakId, [FORECAST, MEASURED], FORECAST_DAYS);
  await push(api, MEASURED, measured);
}

function countDays(peaks: readonly DemoPoint[], versions: readonly string[]): number {
  return peaks.filter(({ version }) => versions.includes(version)).length;
}

const step = (granularity: number, granularityTimeBase: string) => ({ granularity, granularityTimeBase });

async function declaration(
  friendlyName: string,
  file: string,
  alias: string,
  variableId: number,
  window: { readonly periodTimeBase: string; readonly alignTo?: string },
) {
  const formula = await readFile(new URL(file, import.meta.url), 'utf8');
  const input = { alias, variableId, periodType: 'RelativeDate', period: 1, ...window, canBeUsedAsATrigger: true };
  return { friendlyName, calculatedVariableFormulas: [{ formula, variables: [input] }] };
}

function parseDemand(csv: string): readonly Reading[] {
  const rows = csv.split('\n').filter((line) => /^\d/.test(line));
  return rows.map((row) => {
    const [date = '', demand] = row.split(',');
    return { date, value: Number(demand) };
  });
}

/** A naive forecast: each week repeats the week before. The first week has no forecast. */
function weekAhead(measured: readonly Reading[]): readonly Reading[] {
  return measured.slice(HALF_HOURS_PER_WEEK).map(({ date }, index) => ({ date, value: measured[index]?.value ?? 0 }));
}

async function push(api: DemoApi, version: string, data: readonly Reading[]): Promise<void> {
  const element = { sourceSerialNumber: 'GB-DEMAND', mappingConfig: 'demand', version, data };
  await api.call('POST', `/api/data?operationId=demo-${version}`, [element]);
}

/** Waits until at least `days` days have a peak whose version is in `versions`. @returns all peaks. */
async function awaitPeaks(
  api: DemoApi,
  peakId: number,
  versions: readonly string[],
  days: number,
): Promise<readonly DemoPoint[]> {
  const deadlineMs = Date.now() + CALCULATION_TIMEOUT_MS;
  for (;;) {
    const peaks = await api.readPoints(peakId);
    if (countDays(peaks, versions) >= days) return peaks;
    if (Date.now() > deadlineMs) {
      const [run] = await api.call<unknown[]>('GET', `/variables/${peakId}/runs`);
      throw new SetupError(
        `The demo was not computed within ${CALCULATION_TIMEOUT_MS / 1000} s. Run \`npm start\` again to continue. ` +
          'If a calculation failed, `npm run reset` removes all data and starts again. ' +
          `The last run of the variable "Daily peak": ${JSON.stringify(run) ?? 'none'}`,
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
  const heading = `Computed by R and read over gRPC: daily peak of electricity demand, ${SITE_NAME}`;
  return [`${heading} (variable ${peakId}, ${peaks.length} days)`, ...rows];
}
