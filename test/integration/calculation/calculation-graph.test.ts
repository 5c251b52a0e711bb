/**
 * The graph of calculated variables: the service finds cycles, and saves the declarations of one account one after
 * another (R-H1).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DECLARATION_SCHEMA } from '../../../src/calculation/declaration/declaration.ts';
import { GRAPH_LOCK_CLASS, openGraphTurns } from '../../../src/calculation/declaration/graph-turns.ts';
import { saveDeclaration } from '../../../src/calculation/declaration/save-declaration.ts';
import { withTransaction } from '../../../src/platform/database/database.ts';
import { parseInput } from '../../../src/platform/http/lenient.ts';
import { openPointStore, type PointStore } from '../../support/fixtures/point-store.ts';
import { addStoredVariables } from '../../support/fixtures/stored-structure.ts';
import { type CalculationFixture, formula, openCalculationFixture } from './calculation-fixture.ts';

const LAYER = 10;
const MAX_MS = 1000;
/** Number of concurrent saves: more than the pool has connections, so that it would run out if waiting saves held any. */
const SAVERS = 20;

let store: PointStore;
let calculations: CalculationFixture;
beforeAll(async () => {
  store = await openPointStore();
  calculations = openCalculationFixture(store);
});
afterAll(() => store.close());

const addVariable = () => store.addVariable({ isVersioned: false });

const inputsOf = (...variableIds: readonly number[]) =>
  variableIds.map((variableId, index) => ({
    ...{ alias: `a${index}`, variableId, periodType: 'RelativeDate', canBeUsedAsATrigger: true },
  }));
const reading = (...variableIds: readonly number[]) => formula({ variables: inputsOf(...variableIds) });

/**
 * Stores layers of ten variables. Each variable reads all variables of the layer below.
 * @returns the layers, lowest first.
 */
async function addLayers(count: number): Promise<readonly (readonly number[])[]> {
  const ids = await addStoredVariables(store.database, store, { count: count * LAYER });
  await store.database.query(
    `insert into variable_input (variable_id, input_variable_id, is_trigger)
     select id, $1::int + layer * 10 - 10 + input, true
     from generate_series($1::int + 10, $2::int) id, lateral (select (id - $1::int) / 10 as layer) place,
          generate_series(0, 9) input`,
    [ids[0], ids.at(-1)],
  );
  return Array.from({ length: count }, (_, layer) => ids.slice(layer * LAYER, (layer + 1) * LAYER));
}

describe('calculations: the search for cycles (R-H1)', () => {
  test.each([
    ['70 variables', 7],
    ['5,000 variables', 500],
  ])('takes less than a second for %s in layers of ten, with and without a cycle', async (_, count) => {
    const layers = await addLayers(count);
    const [bottom = [], top = []] = [layers[0], layers.at(-1)];
    const [raw, sink, middle, report] = [
      await addVariable(),
      await addVariable(),
      await addVariable(),
      await addVariable(),
    ];
    await calculations.save(sink, reading(...top));
    await calculations.save(bottom[0] ?? 0, reading(raw));
    await calculations.save(report, reading(middle));
    const start = performance.now();
    await calculations.save(middle, reading(sink));
    const withoutCycle = performance.now();
    await expect(calculations.save(raw, reading(sink))).rejects.toMatchObject({ code: 'calculation_cycle' });
    expect(withoutCycle - start).toBeLessThan(MAX_MS);
    expect(performance.now() - withoutCycle).toBeLessThan(MAX_MS);
  });

  test('names the whole path of a short cycle, and the beginning and end of the path of a long cycle', async () => {
    const chain = await addStoredVariables(store.database, store, { count: 30 });
    for (const [index, id] of chain.slice(1).entries()) await calculations.save(id, reading(chain[index] ?? 0));
    const [first = 0, second = 0, third = 0] = chain;
    await expect(calculations.save(first, reading(third))).rejects.toMatchObject({
      message: `variables ${first} -> ${second} -> ${third} -> ${first} would form a cycle`,
    });
    const refused = calculations.save(first, reading(chain.at(-1) ?? 0));
    const named = [...chain.slice(0, 10), '(11 more)', ...chain.slice(-9), first];
    await expect(refused).rejects.toMatchObject({ message: `variables ${named.join(' -> ')} would form a cycle` });
  });

  test('finds no cycle when inputs form a diamond or a variable reads its own earlier points', async () => {
    const [raw, left, right, end] = [
      await addVariable(),
      await addVariable(),
      await addVariable(),
      await addVariable(),
    ];
    const own = { alias: 'own', variableId: left, periodType: 'RelativeDate', canBeUsedAsATrigger: false };
    await calculations.save(end, reading(left, right));
    await calculations.save(right, reading(raw));
    await calculations.save(left, formula({ variables: [...inputsOf(raw), own] }));
    await calculations.save(end, reading(left, right));
    const { rowCount } = await store.database.query('select from variable_input where variable_id = any($1)', [
      [left, right, end],
    ]);
    expect(rowCount).toBe(5);
  });
});

describe('calculations: saves of one account are serialised (R-H1)', () => {
  /** Blocks saves of declarations in the account until the returned function is called. */
  async function holdGraph(): Promise<() => Promise<void>> {
    const gate = Promise.withResolvers<void>();
    const isHeld = Promise.withResolvers<void>();
    const holding = withTransaction(
      store.database,
      async (transaction) => {
        await transaction.query('select pg_advisory_xact_lock($1, $2)', [GRAPH_LOCK_CLASS, store.accountId]);
        isHeld.resolve();
        await gate.promise;
      },
      { idleTimeoutMs: 0 },
    );
    await isHeld.promise;
    return () => {
      gate.resolve();
      return holding;
    };
  }

  test('twenty waiting saves hold no connection of a pool of four, and run in FIFO order', async () => {
    const raw = await addVariable();
    const variables = await addStoredVariables(store.database, store, { count: SAVERS });
    const release = await holdGraph();
    const saved: number[] = [];
    const savers = variables.map((id) => calculations.save(id, reading(raw)).then(() => saved.push(id)));
    for (let round = 0; round < 5; round += 1) {
      const start = performance.now();
      await store.database.query('select pg_sleep(0.05)');
      expect(performance.now() - start).toBeLessThan(MAX_MS);
      expect(store.database.waitingCount).toBe(0);
    }
    expect(saved).toEqual([]);
    await release();
    await Promise.all(savers);
    expect(saved).toEqual(variables);
  });

  test('a save that waits too long for the lock of the account is refused with dependency_unavailable; a save after the release of the lock succeeds', async () => {
    const turns = openGraphTurns(store.database, 300);
    const variableId = await addVariable();
    const declaration = parseInput(DECLARATION_SCHEMA, reading(await addVariable()));
    const save = () =>
      turns.run(store.accountId, (transaction) =>
        saveDeclaration(transaction, calculations.caller, variableId, declaration),
      );
    const release = await holdGraph();
    const refusals = await Promise.allSettled([save(), save(), save()]);
    await release();
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ status: 'rejected', reason: { code: 'dependency_unavailable' } });
    }
    await save();
    const edges = await store.database.query('select from variable_input where variable_id = $1', [variableId]);
    expect(edges.rowCount).toBe(1);
  });

  test('when two processes save the two halves of a cycle at the same time, one save is refused', async () => {
    const processes = [openGraphTurns(store.database), openGraphTurns(store.database)];
    for (let round = 0; round < 10; round += 1) {
      const pair = [await addVariable(), await addVariable()];
      const results = await Promise.allSettled(
        processes.map((turns, index) => {
          const declaration = parseInput(DECLARATION_SCHEMA, reading(pair[1 - index] ?? 0));
          return turns.run(store.accountId, (transaction) =>
            saveDeclaration(transaction, calculations.caller, pair[index] ?? 0, declaration),
          );
        }),
      );
      const refused = results.filter(({ status }) => status === 'rejected');
      expect(refused).toMatchObject([{ reason: { code: 'calculation_cycle' } }]);
    }
  });
});
