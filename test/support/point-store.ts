/** The writer and the reader of points on a database of their own, without anything around them. */
import { createAccount } from '../../src/accounts/operator/create-account.ts';
import { type Database, openDatabase, withTransaction } from '../../src/platform/database/database.ts';
import { createLog } from '../../src/platform/log.ts';
import { encodeTuples } from '../../src/points/copy-codec.ts';
import { type Labels, openDictionary } from '../../src/points/dictionary.ts';
import type { PointChunk, PointSelection, VersionChoice } from '../../src/points/point.ts';
import { streamPoints } from '../../src/points/read/read-points.ts';
import { type WriteResult, writePoints } from '../../src/points/write/write-points.ts';
import { createTestDatabase } from './stack.ts';

export interface StoredPoint {
  readonly date: number;
  readonly value: number;
  readonly tag: string | null;
  readonly versionTimestamp: number;
}

/** date, value and VersionTag of a reading. */
export type WrittenPoint = readonly [dateMicros: number, value: number, tag?: string | null];

export interface PointStore {
  readonly database: Database;
  readonly accountId: number;
  addVariable(settings: { readonly isVersioned: boolean; readonly versionLimit?: number }): Promise<number>;
  /** Writes one batch in one transaction. */
  write(variableId: number, points: readonly WrittenPoint[]): Promise<WriteResult>;
  read(
    variableId: number,
    version?: VersionChoice,
    selection?: Partial<PointSelection>,
  ): Promise<readonly StoredPoint[]>;
  /** Every version of every date, oldest first. */
  readAll(variableId: number): Promise<readonly StoredPoint[]>;
  close(): Promise<void>;
}

const EVERY_VERSION = `
  select (extract(epoch from date) * 1000000)::int8 as date, value, version_tag.tag,
         (extract(epoch from version_timestamp) * 1000000)::int8 as "versionTimestamp"
  from (select * from point union all select * from point_version) version
  left join version_tag on version_tag.id = version_tag_id
  where variable_id = $1 order by date, version_timestamp`;

/** @param versionLimit of the account. */
export async function openPointStore(versionLimit = 7): Promise<PointStore> {
  const test = await createTestDatabase();
  const log = createLog('silent', 'test');
  const database = openDatabase({ url: test.url, poolSize: 4, applicationName: 'test', log });
  const dictionary = openDictionary(database);
  const accountId = await createAccount(database, { name: 'North', versionLimit });
  const sourceId = await addSource(database, accountId);
  return {
    database,
    accountId,
    addVariable: async (settings) => {
      const { rows } = await database.query<{ id: number }>(
        `insert into variable (account_id, source_id, is_versioned, version_limit) values ($1, $2, $3, $4) returning id`,
        [accountId, sourceId, settings.isVersioned, settings.versionLimit],
      );
      return rows[0]?.id ?? 0;
    },
    write: async (variableId, points) => {
      const ids = await dictionary.versionTagIds(accountId, new Set(points.flatMap(([, , tag]) => tag ?? [])));
      const entries = points.map(([dateMicros, value, tag]) => {
        return { variableId, dateMicros, value, versionTagId: ids.get(tag ?? '') ?? 0, tagSetId: 0 };
      });
      return withTransaction(database, (transaction) => writePoints(transaction, [encodeTuples(entries)]));
    },
    read: async (variableId, version = {}, selection = {}) => {
      const wanted: PointSelection = { variableIds: [variableId], version, order: 'ASC', ...selection };
      const points: StoredPoint[] = [];
      for await (const chunk of streamPoints(database, wanted)) {
        points.push(...toPoints(chunk, await dictionary.labelsOf([chunk])));
      }
      return points;
    },
    readAll: async (variableId) => (await database.query<StoredPoint>(EVERY_VERSION, [variableId])).rows,
    close: async () => {
      await database.end();
      await test.drop();
    },
  };
}

function toPoints(chunk: PointChunk, labels: Labels): StoredPoint[] {
  return Array.from(chunk.dates, (date: number, index: number) => ({
    date,
    value: chunk.values[index] ?? Number.NaN,
    tag: labels.versionTag(chunk.versionTagIds[index] ?? 0),
    versionTimestamp: chunk.versionTimestamps[index] ?? Number.NaN,
  }));
}

async function addSource(database: Database, accountId: number): Promise<number> {
  const { rows } = await database.query<{ id: number }>(
    `with made as (insert into site (account_id, name, time_zone_id) values ($1, 'Mill', 'UTC') returning id)
     insert into source (account_id, site_id, name) select $1, id, 'Meter' from made returning id`,
    [accountId],
  );
  return rows[0]?.id ?? 0;
}
