/** The purge of stored versions after the version limit is lowered (R-F7). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { purgeRequestedVersions } from '../../../../src/points/remove/purge-versions.ts';
import type { TestClient } from '../../../support/clients/test-client.ts';
import { createSource, createStructure, createVariable } from '../../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../../support/services/start-api.ts';

let api: TestApi;
let admin: TestClient;
let sourceId: number;

beforeAll(async () => {
  api = await startTestApi();
  admin = await api.signIn('operator', 'ADMIN');
  sourceId = await createSource(api.manager, (await createStructure(api.manager)).siteId);
});
afterAll(() => api?.close());

/** Creates a variable with five tagged and three untagged versions of each of two dates. */
async function withVersions(): Promise<number> {
  const variableId = await createVariable(api.manager, sourceId, { isVersioned: true });
  for (const version of ['V1', undefined, 'V2', undefined, 'V3', undefined, 'V4', 'V5']) {
    const data = [1, 2].map((number) => ({ date: `2026-01-0${number}T00:00:00Z`, value: number }));
    await api.manager.post('/api/data', [{ variableId, version, data }]);
    await api.ingest();
  }
  return variableId;
}

const lowerLimit = (variableId: number, versionLimit: number) =>
  api.manager.put(`/sources/${sourceId}/variables/${variableId}`, { versionLimit });

async function versionsOf(variableId: number): Promise<readonly unknown[]> {
  const { body } = await api.manager.get<{ version: string | null; pointCount: number }[]>(
    `/variables/${variableId}/versions`,
  );
  return body.map(({ version, pointCount }) => [version, pointCount]);
}

describe('points: a purge of versions', () => {
  test('for one variable, the version limit applies separately to tagged and untagged versions of each date (R-F7, R-F3)', async () => {
    const variableId = await withVersions();
    await lowerLimit(variableId, 2);
    expect(await versionsOf(variableId)).toHaveLength(6);
    const { status, body } = await admin.post(`/variables/${variableId}/purgeVersions`, undefined);
    // For each of the two dates, the purge removes three tagged versions and one untagged version.
    expect({ status, body }).toEqual({ status: 200, body: { variableId, removedVersionCount: 8 } });
    expect(await versionsOf(variableId)).toEqual([
      ['V5', 2],
      ['V4', 2],
      [null, 4],
    ]);
    const again = await admin.post(`/variables/${variableId}/purgeVersions`, undefined);
    expect(again.body).toEqual({ variableId, removedVersionCount: 0 });
  });

  test('for a whole account, the purge runs in the background after the answer of the API (R-F7)', async () => {
    const variableId = await withVersions();
    await lowerLimit(variableId, 1);
    await createStructure(api.stranger, { isVersioned: true });
    const { rows } = await api.database.query('select from variable where account_id = $1 and is_versioned', [
      api.accountId,
    ]);
    const { status, body } = await admin.post('/variables/purgeVersions', undefined);
    expect({ status, body }).toEqual({ status: 200, body: { variableCount: rows.length } });
    expect(await versionsOf(variableId)).toHaveLength(6);
    while (await purgeRequestedVersions(api.database));
    expect(await versionsOf(variableId)).toEqual([
      ['V5', 2],
      [null, 2],
    ]);
  });

  test('a purge requires ADMIN, and finds only variables of the caller’s account (R-F7, R-B8, R-A5)', async () => {
    const variableId = await withVersions();
    await lowerLimit(variableId, 1);
    for (const path of [`/variables/${variableId}/purgeVersions`, '/variables/purgeVersions']) {
      expect((await api.manager.post(path, undefined)).status).toBe(403);
    }
    const strange = (await createStructure(api.stranger, { isVersioned: true })).variableId;
    expect((await admin.post(`/variables/${strange}/purgeVersions`, undefined)).status).toBe(404);
    expect((await admin.post('/variables/2000000000/purgeVersions', undefined)).status).toBe(404);
    expect((await admin.post('/variables/x/purgeVersions', undefined)).status).toBe(404);
    expect(await versionsOf(variableId)).toHaveLength(6);
    const { rowCount } = await api.database.query('select from version_purge where variable_id = $1', [strange]);
    expect(rowCount).toBe(0);
  });
});
