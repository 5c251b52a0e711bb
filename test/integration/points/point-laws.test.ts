/**
 * Plays random histories in the model and in the real store. After every step, both must give the same answer to each
 * read, including VersionTimestamps (§9.2, §9.4, R-F1–F8, R-G1, R-G2, R-G5). When history was cut (see
 * src/points/write/README.md), the store must name the instant from which its states are complete (R-F9).
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openModelWorld } from '../../scenarios/engine/model-world.ts';
import { openScenarioStore, type ScenarioStore, type StoreWorld } from '../../scenarios/engine/store-world.ts';
import type { Action, Choice, Period, PushBody, Query, Reading } from '../../scenarios/engine/syntax.ts';
import type { Row, World } from '../../scenarios/engine/world.ts';

const HOUR = 3_600_000_000;
const START = Date.UTC(2026, 2, 28) * 1000;
const at = (hour: number) => START + hour * HOUR;
/** Number of histories of the second test, from LAW_RUNS. Undefined: the test stops after 40 histories or after 6 s. */
const LONG_RUNS = process.env.LAW_RUNS === undefined ? undefined : Number(process.env.LAW_RUNS);
const VARIABLES = ['A', 'B'] as const;
const VERSIONS = ['V1', 'V2', 'V3'] as const;

let store: ScenarioStore;
beforeAll(async () => {
  store = await openScenarioStore();
});
afterAll(() => store.close());

/** A step of a history, without the instant of the step. */
type Step =
  | { readonly kind: 'act'; readonly toAction: (micros: number) => Action }
  | { readonly kind: 'delete'; readonly variable: string; readonly period: Period };

const variable = fc.constantFrom(...VARIABLES);
const version = fc.option(fc.constantFrom(...VERSIONS), { nil: undefined });
const tags = fc.constantFrom(undefined, { quality: 'good' }, { quality: 'bad', site: 'north' });
const labels = fc.record({ version, tags }).map(({ version: name, tags: set }) => {
  return { ...(name !== undefined && { version: name }), ...(set && { tags: set }) };
});
// Most dates are in the two days after START. Some are about a year before or after START, in other chunks.
const date = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 0, max: 5 }).map((hour) => at(hour * 9)) },
  { weight: 1, arbitrary: fc.constantFrom(at(-9000), at(9000)) },
);
const value = fc.integer({ min: -99, max: 99 });
const reading: fc.Arbitrary<Reading> = fc
  .tuple(date, value, labels)
  .map(([dateMicros, number, own]) => ({ dateMicros, value: number, ...own }));
const body: fc.Arbitrary<PushBody> = fc.array(
  fc.tuple(variable, labels, fc.array(reading, { minLength: 1, maxLength: 5 })).map(([name, own, readings]) => {
    return { variable: name, ...own, readings };
  }),
  { minLength: 1, maxLength: 2 },
);
const limit = fc.option(fc.integer({ min: 1, max: 3 }), { nil: null });
const period: fc.Arbitrary<Period> = fc
  .tuple(fc.option(date, { nil: undefined }), fc.option(date, { nil: undefined }), fc.boolean())
  .map(([fromMicros, toMicros, isToIncluded]) => {
    return {
      isToIncluded,
      ...(fromMicros !== undefined && { fromMicros }),
      ...(toMicros !== undefined && { toMicros }),
    };
  });

const action = (toAction: (micros: number) => Action): Step => ({ kind: 'act', toAction: toAction });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc
      .array(body, { minLength: 1, maxLength: 3 })
      .map((bodies) => action((micros) => ({ kind: 'write', bodies, moment: { kind: 'instant', micros } }))),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(variable, fc.array(reading, { minLength: 1, maxLength: 3 })).map(([name, readings]) => {
      const rows = readings.map(({ tags: set, ...row }) => ({ ...row, ...(set && { tags: JSON.stringify(set) }) }));
      return action((atMicros) => ({ kind: 'calculate', variable: name, atMicros, output: { rows } }));
    }),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(variable, fc.boolean())
      .map(([name, isVersioned]) => action(() => ({ kind: 'toggle', variable: name, isVersioned }))),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(variable, limit)
      .map(([name, most]) => action(() => ({ kind: 'limit', variable: name, limit: most }))),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 3 }).map((most) => action(() => ({ kind: 'account-limit', limit: most }))),
  },
  { weight: 2, arbitrary: variable.map((name) => action(() => ({ kind: 'purge', variables: [name] }))) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(variable, period)
      .map(([name, deleted]): Step => ({ kind: 'delete', variable: name, period: deleted })),
  },
);

const settings = fc.record({ isVersioned: fc.boolean(), limit });
const history = fc.record({
  variables: fc.tuple(settings, settings),
  // Pairs of a step and the hours by which the clock moves before the step: usually 1, sometimes 0 or -3.
  steps: fc.array(fc.tuple(step, fc.oneof({ weight: 6, arbitrary: fc.constant(1) }, fc.constantFrom(0, -3))), {
    minLength: 1,
    maxLength: 7,
  }),
});

/**
 * @returns the queries whose answers the test compares. Each query reads both variables.
 * @param moments the instants of the steps so far.
 */
function queries(moments: readonly number[]): readonly Query[] {
  const choices: readonly Omit<Choice, 'isEvery'>[] = [
    {},
    ...moments.slice(-3).flatMap((micros) => [micros, micros - 1].map(knownAt)),
    ...VERSIONS.map((name) => ({ versionTags: [name] })),
    { versionTags: ['V1', 'V3'], ...knownAt(moments[0] ?? START) },
    { tags: [['quality', 'good']] },
    {
      tags: [
        ['version', 'V2'],
        ['site', 'north'],
      ],
    },
    { horizon: { duration: 'PT10H', timeZoneId: 'UTC' } },
    { horizon: { duration: 'P1D', timeZoneId: 'Europe/Brussels' }, versionTags: ['V1', 'V2'] },
  ];
  const whole = { variables: VARIABLES, isToIncluded: false, order: 'asc' } as const;
  const aggregation = { aggregate: 'sum', bucket: 'day', timeZoneId: 'Europe/Brussels', minCount: 1 } as const;
  const within = { fromMicros: at(0), toMicros: at(60) };
  return [
    ...choices.map((choice) => ({ ...whole, choice: { ...choice, isEvery: false } })),
    ...choices.slice(0, 4).map((choice) => ({ ...whole, choice: { ...choice, isEvery: true } })),
    { ...whole, choice: { isEvery: true }, order: 'desc', page: { number: 1, size: 3 } },
    { ...whole, choice: { isEvery: false }, order: 'desc', page: { number: 0, size: 1 } },
    { ...whole, choice: { isEvery: false }, fromMicros: at(9), toMicros: at(27), isToIncluded: true },
    { ...whole, ...within, choice: { isEvery: false }, aggregation: { ...aggregation, fill: 'none' } },
    { ...whole, ...within, choice: { isEvery: true }, aggregation: { ...aggregation, aggregate: 'avg', fill: 'none' } },
    {
      ...whole,
      ...within,
      choice: { versionTags: ['V1'], isEvery: false },
      aggregation: { ...aggregation, fill: 'none', minCount: 2 },
    },
  ];
}

function knownAt(micros: number): Pick<Choice, 'knownAt'> {
  return { knownAt: { kind: 'instant', micros } };
}

/** @returns the answers of a world (the model or the store) to every query, in a comparable form. */
async function answers(world: World, moments: readonly number[]): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  for (const query of queries(moments)) {
    const rows = await world.read(query);
    all.push([
      query,
      rows.map(({ value: number, tags: set, ...row }) => ({
        ...row,
        // The value is rounded, because the store and the model add the values of an average in different orders.
        value: number === null ? null : Math.round(number * 1e6) / 1e6 + 0,
        tags: Object.fromEntries(Object.entries(set).sort()),
      })),
    ]);
    if (!query.page) all.push([query, await world.count(query)]);
  }
  for (const name of VARIABLES) {
    const lines = await world.versions(name);
    all.push([
      name,
      lines.map(({ version: tag, count, firstMicros, lastMicros }) => [tag, count, firstMicros, lastMicros]),
    ]);
    all.push([name, await world.remove(name, { isToIncluded: false, fromMicros: at(18) }, true)]);
  }
  return all;
}

async function play(world: World, taken: Step, micros: number): Promise<unknown> {
  if (taken.kind === 'delete') return world.remove(taken.variable, taken.period, false);
  await world.perform(taken.toAction(micros));
  return undefined;
}

it('points: model and store agree on reads, counts, lists of versions and deletions after every step of random histories (§9.2, R-F1–F8, R-G1, R-G2, R-G5)', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ variables, steps }) => {
      const worlds = [openModelWorld(), await store.openWorld()] as const;
      for (const [index, setting] of variables.entries()) {
        const made = { kind: 'variable', variable: VARIABLES[index] ?? '', ...setting } as const;
        for (const world of worlds) await world.perform(made);
      }
      const moments: number[] = [];
      let hour = 0;
      for (const [taken, passed] of steps) {
        hour += passed;
        moments.push(at(hour));
        const [law, found] = [await play(worlds[0], taken, at(hour)), await play(worlds[1], taken, at(hour))];
        expect(found).toEqual(law);
        expect(await answers(worlds[1], moments)).toEqual(await answers(worlds[0], moments));
      }
    }),
    { numRuns: 25, interruptAfterTimeLimit: 20_000 },
  );
}, 60_000);

const EVERYTHING: Query = { variables: VARIABLES, isToIncluded: false, order: 'asc', choice: { isEvery: true } };

/** @returns the state at an instant: the value of each date. @param versions all versions, in ascending order. */
function stateAt(versions: readonly Row[], micros: number): ReadonlyMap<number, number | null> {
  const known = versions.filter(({ versionMicros }) => (versionMicros ?? 0) <= micros);
  return new Map(known.map(({ dateMicros, value: number }) => [dateMicros, number]));
}

/**
 * Checks that the store `cut`, which drops old versions, gives the same state as the model `uncut` at every instant from
 * historyFrom on. `uncut` also keeps the versions above the version limit and the versions that a write to an
 * unversioned variable overwrites. Both remove the points that a step deletes.
 * @param latest greatest VersionTimestamp that each variable has ever had. This function updates the map. Pass the same
 *   map to every call, because a deletion can remove the version with the greatest VersionTimestamp from both `cut` and
 *   `uncut`.
 */
async function expectWhole(cut: StoreWorld, uncut: World, latest: Map<string, number>): Promise<void> {
  const [stored, all] = [await cut.read(EVERYTHING), await uncut.read(EVERYTHING)];
  for (const name of VARIABLES) {
    const historyFrom = (await cut.historyFrom(name)) ?? Number.NEGATIVE_INFINITY;
    const own = (rows: readonly Row[]) => rows.filter((row) => row.variable === name);
    const stamps = own(all).map(({ versionMicros }) => versionMicros ?? 0);
    latest.set(name, Math.max(latest.get(name) ?? 0, ...stamps));
    expect(historyFrom, 'the latest state is complete').toBeLessThanOrEqual(latest.get(name) ?? 0);
    const instants = [...stamps.flatMap((micros) => [micros - 1, micros]), historyFrom];
    for (const micros of instants.filter((instant) => instant >= historyFrom)) {
      expect(stateAt(own(stored), micros), `${name} at ${micros}`).toEqual(stateAt(own(all), micros));
    }
  }
}

it('points: after every step of random histories, the store has the complete state at every instant from `historyFrom` on (R-F9)', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ variables, steps }) => {
      const [cut, uncut] = [await store.openWorld(), openModelWorld(undefined, true)];
      for (const [index, setting] of variables.entries()) {
        const made = { kind: 'variable', variable: VARIABLES[index] ?? '', ...setting } as const;
        for (const world of [cut, uncut]) await world.perform(made);
      }
      const latest = new Map<string, number>();
      let hour = 0;
      for (const [taken, passed] of steps) {
        hour += passed;
        for (const world of [cut, uncut]) await play(world, taken, at(hour));
        await expectWhole(cut, uncut, latest);
      }
    }),
    { numRuns: LONG_RUNS ?? 40, ...(LONG_RUNS === undefined && { interruptAfterTimeLimit: 6000 }) },
  );
}, 600_000);
