/**
 * Compares the durations of reads over a year of 15-minute points:
 * - the latest state of points with seven versions, against the latest state of points with one version
 * - past states of points with seven versions, against their latest state
 */
import { type Database, withTransaction } from '../../../src/platform/database/database.ts';
import { encodeTuples } from '../../../src/points/copy-codec.ts';
import type { PointSelection, VersionChoice } from '../../../src/points/point.ts';
import { streamPoints } from '../../../src/points/read/read-points.ts';
import { writePoints } from '../../../src/points/write/write-points.ts';
import { addAccount } from '../../support/fixtures/accounts.ts';
import { addStoredSource, addStoredVariables } from '../../support/fixtures/stored-structure.ts';
import { type Figure, figure } from '../report.ts';

const ROUNDS = 15;
const POINTS = 35_040;
const VERSIONS = 7;
const QUARTER = 900_000_000;
const YEAR = { fromMicros: Date.UTC(2025, 0, 1) * 1000, toMicros: Date.UTC(2026, 0, 1) * 1000 };

/** @param database with a migrated schema; the bench creates an account of its own. */
export async function benchReads(database: Database): Promise<readonly Figure[]> {
  const accountId = await addAccount(database, 'Readers');
  const sourceId = await addStoredSource(database, accountId);
  const variables = { count: 2, isVersioned: true };
  const [many = 0, one = 0] = await addStoredVariables(database, { accountId, sourceId }, variables);
  const known: number[] = [];
  for (let version = 0; version < VERSIONS; version += 1) known.push(await writeYear(database, many, version));
  await writeYear(database, one, 0);
  // Sets the visibility map, as autovacuum does.
  await database.query('vacuum (analyze) point, point_version');
  const timeOf = (variableId: number, version: VersionChoice) =>
    timeRead(database, { variableIds: [variableId], ...YEAR, version, order: 'ASC' });
  const compare = async (name: string, ratioOf: string, ours: VersionChoice, limit: number): Promise<Figure> => {
    const pairs: (readonly [number, number])[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const pair = [await timeOf(many, ours), await timeOf(limit, {})] as const;
      if (round > 0) pairs.push(pair);
    }
    return figure(name, ratioOf, 'ms', pairs);
  };
  const asOf = (version: number): VersionChoice => ({ asOfMicros: known[version - 1] ?? 0 });
  return [
    await compare('latest year of 15-min points with 7 versions', 'of the same with one', {}, one),
    await compare('the state after the 4th of 7 versions', 'of the latest', asOf(4), many),
    await compare('the state after the 6th of 7 versions', 'of the latest', asOf(6), many),
  ];
}

/** @returns milliseconds until the last point arrives. */
async function timeRead(database: Database, selection: PointSelection): Promise<number> {
  const startMs = performance.now();
  let points = 0;
  for await (const { dates } of streamPoints(database, selection)) points += dates.length;
  if (points !== POINTS) throw new Error(`expected ${POINTS} points, got ${points}`);
  return performance.now() - startMs;
}

/** Writes one version of each point of a year. @returns an instant between this write and later ones. */
async function writeYear(database: Database, variableId: number, version: number): Promise<number> {
  const entries = Array.from({ length: POINTS }, (_, index) => {
    const dateMicros = YEAR.fromMicros + index * QUARTER;
    return { variableId, dateMicros, value: version + index, versionTagId: 0, tagSetId: 0 };
  });
  await withTransaction(database, (transaction) => writePoints(transaction, [encodeTuples(entries)]));
  const { rows } = await database.query<{ now: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000000)::int8 as now',
  );
  return rows[0]?.now ?? 0;
}
