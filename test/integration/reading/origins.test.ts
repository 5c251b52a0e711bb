/** `GET /data/origins`: the pushes, files and runs that wrote versions. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeTuples } from '../../../src/points/copy-codec.ts';
import { openGroupCommit } from '../../../src/push/accept/group-commit.ts';
import { toSharedOperation } from '../../../src/push/fast-paths/plain-push.ts';
import { purgeOldOrigins } from '../../../src/push/store/operation-upkeep.ts';
import type { TestClient } from '../../support/clients/test-client.ts';
import { createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { type FileStack, startFileStack } from '../files/files-fixture.ts';

const DATE = '2026-01-01T00:00:00Z';
const DATE_MICROS = Date.parse(DATE) * 1000;

interface Origins {
  readonly versionTimestamp: string;
  readonly origins: readonly { readonly kind: string; readonly operationId?: string }[];
}

let stack: FileStack;
let manager: TestClient;
let sourceId: number;
let siteId: number;
beforeAll(async () => {
  stack = await startFileStack();
  stack.startIngester();
  manager = stack.api.manager;
  ({ sourceId, siteId } = await createStructure(manager));
});
afterAll(() => stack.close());

const newVariable = () => createVariable(manager, sourceId, { isVersioned: true });
const push = async (variableIds: readonly number[], value: number, query = '', client = manager) => {
  const elements = variableIds.map((variableId) => ({ variableId, data: [{ date: DATE, value }] }));
  return (await client.post<{ operationId: string }>(`/api/data${query}`, elements)).body.operationId;
};

/** @returns the VersionTimestamps of the versions at DATE, newest first. */
async function versionsOf(variableId: number): Promise<readonly string[]> {
  const { body } = await manager.get<{ versionTimestamp: string }[]>(
    `/data?variableId=${variableId}&from=${DATE}&to=${DATE}&includeToBoundary=true&versions=all`,
  );
  return body
    .map(({ versionTimestamp }) => versionTimestamp)
    .toSorted()
    .toReversed();
}

async function originsOf(variableId: number, client = manager): Promise<readonly Origins['origins'][]> {
  const versions = await versionsOf(variableId);
  const query = versions.map((version) => `versionTimestamps=${version}`).join('&');
  const { status, body } = await client.get<Origins[]>(`/data/origins?variableId=${variableId}&${query}`);
  expect(status).toBe(200);
  expect(body.map(({ versionTimestamp }) => versionTimestamp)).toEqual(versions);
  return body.map(({ origins }) => origins);
}

describe('reading: the origins of versions', () => {
  it('an origin names the push operation that wrote the version, also for a correction or replay (R-D7, R-D8)', async () => {
    const variableId = await newVariable();
    const days = Array.from({ length: 1500 }, (_, day) => ({
      date: new Date(Date.parse(DATE) + day * 86_400_000).toISOString(),
      value: 1,
    }));
    await manager.post('/api/data?operationId=direct', [{ variableId, data: days }]);
    await stack.api.ingest();
    await push([variableId], 2, '?operationId=ordinary');
    await stack.api.ingest();
    const data = [{ date: DATE, value: 3, version: 'V1', tags: { note: 'meter replaced' } }];
    await manager.post('/api/data?operationId=correction', [{ variableId, data }]);
    await stack.api.ingest();
    expect(await originsOf(variableId)).toMatchObject([
      [{ kind: 'Push', operationId: 'correction', acceptedDate: expect.any(String), userId: expect.any(String) }],
      [{ kind: 'Push', operationId: 'ordinary' }],
      [{ kind: 'Push', operationId: 'direct' }],
    ]);
    await manager.post('/api/data?operationId=early', [{ mappingConfig: 'later', data: [{ date: DATE, value: 4 }] }]);
    const later = await createVariable(manager, sourceId, { isVersioned: true, mappingConfig: 'later' });
    await manager.post('/api/operations/early/replay', {});
    await stack.api.ingest();
    expect(await originsOf(later)).toMatchObject([[{ kind: 'Push', operationId: 'early', isReplay: true }]]);
  });

  it('the origin of a version is its file, or the run of the variable during which the version was written', async () => {
    const variableId = await newVariable();
    const fileId = await stack.upload('Mäy.csv', `variable_id,date,value\n${variableId},${DATE},1\n`);
    expect(await stack.ended(fileId)).toMatchObject({ state: 'Completed' });
    const { rows } = await stack.api.database.query<{ id: number }>(
      `insert into calculation_run (account_id, variable_id, state, trigger, from_date, to_date, trigger_date, wave, attempt, default_version,
                                    requested_date)
       values ($1, $2, 'Running', 'Input', now(), now(), now(), 0, 0, '', now()) returning id`,
      [stack.api.accountId, variableId],
    );
    await stack.api.database.query(
      `insert into point_version (date, value, version_timestamp, variable_id, version_tag_id, tag_set_id)
       values ($2, 0, clock_timestamp(), $1, 0, 0)`,
      [variableId, DATE],
    );
    await stack.api.database.query(
      `update calculation_run set state = 'Succeeded', finished_date = clock_timestamp() where id = $1`,
      [rows[0]?.id],
    );
    expect(await originsOf(variableId)).toMatchObject([
      [{ kind: 'Run', runId: Number(rows[0]?.id) }],
      [{ kind: 'File', fileId, filename: 'Mäy.csv', uploadedDate: expect.any(String) }],
    ]);
  });

  it('a USER sees only the kind and the date of the pushes and files of other users; a user who may not read the variable gets 404 (R-B9)', async () => {
    const variableId = await newVariable();
    await stack.ended(await stack.upload('a.csv', `variable_id,date,value\n${variableId},${DATE},1\n`));
    const user = await stack.api.signIn('uma', 'USER', { sites: [siteId] });
    await push([variableId], 1);
    await stack.api.ingest();
    expect(await originsOf(variableId, user)).toEqual([
      [{ kind: 'Push', acceptedDate: expect.any(String) }],
      [{ kind: 'File', uploadedDate: expect.any(String) }],
    ]);
    const none = await stack.api.signIn('nora', 'USER', { sites: [] });
    const query = `variableId=${variableId}&versionTimestamps=${DATE}`;
    expect((await none.get(`/data/origins?${query}`)).status).toBe(404);
    expect((await stack.api.stranger.get(`/data/origins?${query}`)).status).toBe(404);
  });

  it('after the operation of a push is deleted, the origin shows nothing but its kind; after old origins are purged, their versions have no origins (R-D8)', async () => {
    const variableId = await newVariable();
    await push([variableId], 1, '?operationId=old');
    await stack.api.ingest();
    await stack.api.database.query(`delete from push_operation where label = 'old'`);
    expect(await originsOf(variableId)).toEqual([[{ kind: 'Push' }]]);
    const age = `update write_origin set version_timestamp = version_timestamp - interval '40 days' where account_id = $1`;
    await stack.api.database.query(age, [stack.api.accountId]);
    expect(await purgeOldOrigins(stack.api.database, 41, 41)).toBe(0);
    expect(await purgeOldOrigins(stack.api.database, 30, 30)).toBeGreaterThan(0);
    expect(await originsOf(variableId)).toEqual([[]]);
  });

  it.each(['', 'variableId=1', `versionTimestamps=${DATE}`, 'variableId=1&versionTimestamps=2026-01-01T00:00:00'])(
    'the query "%s" is refused (R-A5)',
    async (query) => {
      expect((await manager.get(`/data/origins?${query}`)).status).toBe(400);
    },
  );
});

/**
 * Pushes, each with the variables that it writes. Several pushes may become one operation only if `isPlain` is true for
 * all of them and one user sent all of them.
 */
const pushes = fc.array(
  fc.record({
    variables: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 5 }),
    isPlain: fc.boolean(),
  }),
  { minLength: 1, maxLength: 5 },
);

describe('reading: the origins of a version, when one write stored several pushes', () => {
  it('the origins are the pushes that contain the variable, even after the clock has stepped back (R-D6, R-F1)', async () => {
    const { database, accountId } = stack.api;
    const { rows } = await database.query<{ id: string }>(`select id from app_user where user_name = 'max'`);
    const userId = rows[0]?.id ?? '';
    const ids = await Promise.all([newVariable(), newVariable(), newVariable(), newVariable()]);
    const group = openGroupCommit(database, toSharedOperation);
    const expected = new Map<string, readonly string[]>();
    const known = new Set<string>();
    let count = 0;
    const toPush = ({ variables, isPlain }: { variables: readonly number[]; isPlain: boolean }) => {
      const variableIds = variables.map((index) => ids[index] ?? 0);
      const readings = variableIds.map((variableId) => {
        return { variableId, dateMicros: DATE_MICROS, value: 1, versionTagId: 0, tagSetId: 0 };
      });
      const tuples = encodeTuples(readings);
      const plain = { userId, requestId: null, elements: 1, readings: readings.length, tuples, variableIds };
      count += 1;
      const own = { label: `own-${count}`, requestId: 'r', acceptedElements: 1, acceptedReadings: readings.length };
      const operation = {
        ...{ userId, tuples, variableIds, timeoutSec: 60, resendKey: null, mapperId: null, isReplay: false },
        ...{ rejected: [], rejectedElements: [], warnings: [], ...own },
      };
      return { variableIds, submission: { accountId, structureVersion: null, push: isPlain ? plain : operation } };
    };
    await fc.assert(
      fc.asyncProperty(pushes, fc.boolean(), async (given, isBehind) => {
        if (isBehind) {
          await database.query(
            `update series set last_version_timestamp = greatest(last_version_timestamp, clock_timestamp() + interval '2 ms')
             where variable_id = $1`,
            [ids[0]],
          );
        }
        const sent = given.map(toPush);
        const outcomes = await Promise.all(sent.map(({ submission }) => group.submit(submission)));
        await stack.api.ingest();
        const labels = outcomes.map((outcome) => (outcome.kind === 'stored' ? outcome.label : outcome.kind));
        for (const variableId of ids) {
          const own = labels.filter((_, index) => sent[index]?.variableIds.includes(variableId));
          for (const version of await versionsOf(variableId)) {
            const key = `${variableId} ${version}`;
            if (!known.has(key)) expected.set(key, own);
            known.add(key);
          }
        }
      }),
      { numRuns: 12 },
    );
    for (const variableId of ids) {
      const [versions, found] = [await versionsOf(variableId), await originsOf(variableId)];
      for (const [index, version] of versions.entries()) {
        const operations = found[index]?.map(({ operationId }) => operationId).toSorted();
        expect(operations).toEqual(expected.get(`${variableId} ${version}`)?.toSorted());
      }
    }
    expect(known.size).toBeGreaterThan(10);
  });
});
