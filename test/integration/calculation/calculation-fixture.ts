/** Calculated variables on a database of their own, with a fake sandbox instead of R. */

import { DECLARATION_SCHEMA } from '../../../src/calculation/declaration/declaration.ts';
import { openGraphTurns } from '../../../src/calculation/declaration/graph-turns.ts';
import { saveDeclaration } from '../../../src/calculation/declaration/save-declaration.ts';
import { compute } from '../../../src/calculation/run/compute.ts';
import { type RunResult, type RunServices, runCalculation } from '../../../src/calculation/run/run-calculation.ts';
import type { SandboxJob, SandboxOutcome } from '../../../src/calculation/sandbox/sandbox-types.ts';
import { calculationTrigger, forceUpdate } from '../../../src/calculation/schedule/request-calculations.ts';
import type { Caller } from '../../../src/identity/caller/caller.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { type Database, withConnection, withTransaction } from '../../../src/platform/database/database.ts';
import { createOutboxRelay } from '../../../src/platform/database/outbox.ts';
import { parseInput } from '../../../src/platform/http/lenient.ts';
import { createLog } from '../../../src/platform/log.ts';
import { announcePoints } from '../../../src/points/announce-points.ts';
import { openDictionary } from '../../../src/points/dictionary.ts';
import { codedText } from '../../fixtures/scripts/harness.ts';
import type { PointStore } from '../../support/fixtures/point-store.ts';

export const START = Date.UTC(2026, 0, 1) * 1000;
export const HOUR = 3_600_000_000;
export const NOTES = { messages: [], warnings: [], output: '' };
export const TIMING = { waitMs: 0, runMs: 0, cpuMs: 0, maxRssBytes: 0 };

export const NO_QUEUE = {
  wake: async () => true,
  wakeMembers: async () => true,
  ping: async () => {},
  count: async () => ({}),
  close: async () => {},
};

/** @returns the outcome of a script that returns the given columns. The dates are in UNIX seconds. */
export const returned = (
  dates: Iterable<number>,
  values: Iterable<number>,
  versions: readonly string[] | null = null,
): SandboxOutcome => ({
  ...{ kind: 'ok', errors: [], notes: NOTES, timing: TIMING },
  series: {
    dates: Float64Array.from(dates),
    values: Float64Array.from(values),
    versions: versions && codedText(versions),
    tags: null,
  },
});

/** @returns the outcome of a script whose value at each date is the date itself, in UNIX seconds. */
export const ok = (dates: readonly number[], versions: readonly string[] | null = null): SandboxOutcome =>
  returned(dates, dates, versions);

/**
 * Requests a run for each of the variables, all in one transaction.
 * @returns the ids of the variables that get a run.
 */
export const forceRuns = (
  database: Database,
  variableIds: readonly number[],
  range: { readonly from?: string; readonly to?: string },
): Promise<readonly number[]> =>
  withTransaction(database, (transaction) => forceUpdate(transaction, variableIds, range));

type Script = (job: SandboxJob) => Promise<SandboxOutcome> | SandboxOutcome;

/** @returns a sandbox that calls `run` in place of every script. */
export const sandboxOf = (run: Script) => ({
  run: async (job: SandboxJob) => run(job),
  checkHealth: async () => {},
  close: async () => {},
});

export interface CalculationFixture {
  readonly caller: Caller;
  /** Saves a declaration, but adds no history entry. @throws {DomainError} when the declaration is refused. */
  readonly save: (variableId: number, declaration: unknown) => Promise<void>;
  /** Adds a calculated variable with the declaration. @returns the id of the variable. */
  readonly addCalculated: (declaration: unknown) => Promise<number>;
  /**
   * Announces that points of a variable were written.
   * @param at dates of the written points, in microseconds; default: START.
   * @param wave wave of the write; default: a new wave.
   */
  readonly announce: (variableId: number, at?: readonly number[], wave?: number) => Promise<void>;
  readonly relay: () => Promise<void>;
  /** Announces a write to a variable and relays the event. The relay requests the runs that the write triggers. */
  readonly change: CalculationFixture['announce'];
  /** Processes the waiting request of a variable, but calls `run` instead of the script. */
  readonly runWith: (
    variableId: number,
    run: Script,
    parts?: Partial<RunServices>,
    signal?: AbortSignal,
  ) => Promise<RunResult>;
  /**
   * Calculates the variable after its inputs have changed at the dates in `changed`.
   * @returns the jobs that the sandbox gets.
   */
  readonly jobsFor: (variableId: number, changed: readonly number[]) => Promise<readonly SandboxJob[]>;
  readonly runsOf: (variableId: number) => Promise<readonly Record<string, unknown>[]>;
}

export function openCalculationFixture(store: PointStore, maxInputPoints = 1_000_000): CalculationFixture {
  const { database, accountId } = store;
  const dictionary = openDictionary(database);
  const caller: Caller = {
    ...{ userId: 'u', userName: 'u', accountId, role: 'MANAGER', sites: 'all' },
    ...{ permissions: new Set<string>(), scopes: new Set<string>() },
  };
  const turns = openGraphTurns(database);
  const save = (variableId: number, given: unknown) =>
    turns.run(accountId, async (transaction) => {
      const values = [variableId, JSON.stringify(given)];
      await transaction.query('update variable set calculated = $2 where id = $1', values);
      await saveDeclaration(transaction, caller, variableId, parseInput(DECLARATION_SCHEMA, given));
    });
  const announce: CalculationFixture['announce'] = (variableId, at = [START], wave) =>
    withTransaction(database, (transaction) => {
      const range = { variableId, fromMicros: Math.min(...at), toMicros: Math.max(...at), count: at.length };
      return announcePoints(transaction, accountId, [range], wave === undefined ? {} : { wave });
    });
  const relay = () => createOutboxRelay(database, [calculationTrigger(NO_QUEUE)], createLog('silent', 'test')).relay();
  return {
    caller,
    save,
    addCalculated: async (declaration) => {
      const variableId = await store.addVariable({ isVersioned: false });
      await save(variableId, declaration);
      return variableId;
    },
    announce,
    relay,
    change: async (...write) => {
      await announce(...write);
      await relay();
    },
    runWith: (variableId, run, parts = {}, signal = undefined) => {
      const sandbox = sandboxOf(run);
      return runCalculation(
        { database, dictionary, sandbox, clock: systemClock, maxInputPoints, ...parts },
        variableId,
        signal,
      );
    },
    jobsFor: async (variableId, changed) => {
      const jobs: SandboxJob[] = [];
      const sandbox = sandboxOf((job) => {
        jobs.push(job);
        return ok([]);
      });
      const range = { fromMicros: Math.min(...changed), toMicros: Math.max(...changed) };
      const request = { variableId, changed: range, triggerMicros: range.toMicros, defaultVersion: '' };
      const services = { dictionary, sandbox, maxInputPoints };
      const { result } = await withConnection(database, (connection) => compute(services, connection, request));
      if (result.kind === 'failed') throw new Error(`${result.outcome}: ${result.message}`);
      return jobs;
    },
    runsOf: async (variableId) => {
      const { rows } = await database.query('select * from calculation_run where variable_id = $1 order by id', [
        variableId,
      ]);
      return rows;
    },
  };
}

/** @returns a declaration with one formula. */
export const formula = (members: object) => ({ calculatedVariableFormulas: [{ formula: 'anything', ...members }] });
