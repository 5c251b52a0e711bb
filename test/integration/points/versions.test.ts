/** The listing of a variable's versions, for drop-downs (R-F8). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withTransaction } from '../../../src/platform/database/database.ts';
import { holdGate } from '../../../src/points/columns/hold-gate.ts';
import { createSource, createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

interface Version {
  readonly version: string | null;
  readonly firstVersionTimestamp: string;
  readonly lastVersionTimestamp: string;
  readonly pointCount: number;
}

let api: TestApi;
let siteId: number;
let sourceId: number;

beforeAll(async () => {
  api = await startTestApi();
  siteId = (await createStructure(api.manager)).siteId;
  sourceId = await createSource(api.manager, siteId);
});
afterAll(() => api?.close());

async function push(variableId: number, version: string | undefined, dates: readonly string[]): Promise<void> {
  const data = dates.map((date) => ({ date: `${date}T00:00:00Z`, value: Math.random() }));
  await api.manager.post('/api/data', [{ variableId, version, data }]);
  await api.ingest();
}

async function versionsOf(variableId: number): Promise<readonly Version[]> {
  const { status, body } = await api.manager.get<Version[]>(`/variables/${variableId}/versions`);
  expect(status).toBe(200);
  return body;
}

const counts = (versions: readonly Version[]) => versions.map(({ version, pointCount }) => [version, pointCount]);

/** @returns the expected listing, computed from the stored rows. */
async function versionsByHand(variableId: number): Promise<readonly Version[]> {
  const { rows } = await withTransaction(api.database, async (transaction) => {
    await holdGate(transaction);
    return transaction.query<Version>(BY_HAND, [variableId]);
  });
  return rows;
}

const BY_HAND = `select tag as version, min(version_timestamp) as "firstVersionTimestamp",
            max(version_timestamp) as "lastVersionTimestamp", count(*) as "pointCount"
     from (select * from point union all select * from point_version) version
     left join version_tag on version_tag.id = version_tag_id
     where variable_id = $1 group by tag order by max(version_timestamp) desc, tag nulls last`;

describe('points: the list of versions of a variable', () => {
  test('has one item per VersionTag and one for untagged points, newest first (R-F8)', async () => {
    const variableId = await createVariable(api.manager, sourceId, { isVersioned: true });
    expect(await versionsOf(variableId)).toEqual([]);
    await push(variableId, 'V1', ['2026-01-01', '2026-01-02', '2026-06-01']);
    await push(variableId, undefined, ['2026-01-02']);
    await push(variableId, 'V2', ['2026-01-01']);
    const versions = await versionsOf(variableId);
    expect(counts(versions)).toEqual([
      ['V2', 1],
      [null, 1],
      ['V1', 3],
    ]);
    expect(versions).toEqual(await versionsByHand(variableId));
  });

  test('reflects writes that append, revise, replace and overwrite (R-F8)', async () => {
    const variableId = await createVariable(api.manager, sourceId, { isVersioned: true });
    const steps: readonly (() => Promise<unknown>)[] = [
      () => push(variableId, 'V1', ['2025-01-01', '2025-03-01', '2025-05-01', '2025-09-01']),
      () => push(variableId, 'V1', ['2025-12-01']),
      () => push(variableId, 'V2', ['2025-03-01']),
      () => push(variableId, 'V2', ['2025-03-01']),
      () => push(variableId, 'V1', ['2025-03-01']),
      () => push(variableId, undefined, ['2025-01-01', '2025-12-01']),
      () => api.manager.put(`/sources/${sourceId}/variables/${variableId}`, { isVersioned: false }),
      () => push(variableId, 'V3', ['2025-03-01', '2025-05-01']),
    ];
    for (const step of steps) {
      await step();
      expect(await versionsOf(variableId)).toEqual(await versionsByHand(variableId));
    }
  });

  test('omits deleted points and purged versions (R-F7, R-F8, R-G5)', async () => {
    const variableId = await createVariable(api.manager, sourceId, { isVersioned: true });
    const admin = await api.signIn('versions-operator', 'ADMIN');
    await push(variableId, 'V1', ['2025-01-01', '2025-01-02', '2025-09-01']);
    await push(variableId, 'V2', ['2025-01-01', '2025-01-02', '2025-09-01']);
    expect(counts(await versionsOf(variableId))).toEqual([
      ['V2', 3],
      ['V1', 3],
    ]);
    const deletePoints = async (period: object) => {
      const { status } = await api.manager.send('DELETE', '/data', { variableIds: [variableId], ...period });
      expect(status).toBe(200);
    };
    await deletePoints({ fromDateUtc: '2025-01-02T00:00:00Z', toDateUtc: '2025-01-03T00:00:00Z' });
    expect(counts(await versionsOf(variableId))).toEqual([
      ['V2', 2],
      ['V1', 2],
    ]);
    expect(await versionsOf(variableId)).toEqual(await versionsByHand(variableId));
    await api.manager.put(`/sources/${sourceId}/variables/${variableId}`, { versionLimit: 1 });
    expect((await admin.post(`/variables/${variableId}/purgeVersions`, undefined)).status).toBe(200);
    expect(counts(await versionsOf(variableId))).toEqual([['V2', 2]]);
    await deletePoints({ fromDateUtc: '2025-09-01T00:00:00Z' });
    expect(counts(await versionsOf(variableId))).toEqual([['V2', 1]]);
    expect(await versionsOf(variableId)).toEqual(await versionsByHand(variableId));
  });

  test('is the same in eight concurrent requests (R-F8)', async () => {
    const variableId = await createVariable(api.manager, sourceId, { isVersioned: true });
    await push(variableId, 'V1', ['2025-01-01', '2025-09-01']);
    const expected = await versionsByHand(variableId);
    const lists = await Promise.all(Array.from({ length: 8 }, () => versionsOf(variableId)));
    expect(lists).toEqual(lists.map(() => expected));
  });

  test('is paged, and its total is in x-total-count (R-A7)', async () => {
    const variableId = await createVariable(api.manager, sourceId, { isVersioned: true });
    for (const version of ['V1', 'V2', 'V3']) await push(variableId, version, ['2025-01-01']);
    const path = `/variables/${variableId}/versions?itemsPerPage=2&pageNumber=1`;
    const { body, headers } = await api.manager.get<Version[]>(path, { 'x-total-count': 'true' });
    expect([counts(body), headers.get('x-total-count')]).toEqual([[['V1', 1]], '3']);
  });

  test('answers 404 for a missing variable and for variables of an ungranted site or of another account (R-A5, R-B9)', async () => {
    const variableId = await createVariable(api.manager, sourceId, { isVersioned: true });
    const path = `/variables/${variableId}/versions`;
    const insider = await api.signIn('versions-insider', 'USER', { sites: [siteId] });
    const outsider = await api.signIn('versions-outsider', 'USER', { sites: [] });
    expect((await insider.get(path)).status).toBe(200);
    expect((await outsider.get(path)).status).toBe(404);
    expect((await api.stranger.get(path)).status).toBe(404);
    expect((await api.manager.get('/variables/2000000000/versions')).status).toBe(404);
    expect((await api.manager.get('/variables/x/versions')).status).toBe(404);
  });

  test('is deleted with its variable (R-C7)', async () => {
    const variableId = await createVariable(api.manager, sourceId, { isVersioned: true });
    await push(variableId, 'V1', ['2025-01-01']);
    await versionsOf(variableId);
    const path = `/sources/${sourceId}/variables/${variableId}?hardDelete=true`;
    expect((await api.manager.delete(path)).status).toBe(204);
    const { rowCount } = await api.database.query('select from version_summary where variable_id = $1', [variableId]);
    expect(rowCount).toBe(0);
  });
});
