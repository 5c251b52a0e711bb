/** `DELETE /data`: deletes all versions of the points in a period (R-G5). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSource, createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

interface Removed {
  readonly results: readonly { readonly variableId: number; readonly datapointCount: number }[];
}

let api: TestApi;
let siteId: number;
let sourceId: number;

beforeAll(async () => {
  api = await startTestApi();
  siteId = (await createStructure(api.manager)).siteId;
  // The zone of the source is not UTC, so that the tests show that dates are read in UTC, not in that zone.
  sourceId = await createSource(api.manager, siteId, { timeZoneId: 'America/New_York' });
});
afterAll(() => api?.close());

const day = (number: number) => `2026-01-0${number}T00:00:00Z`;

/** Creates a versioned variable with one point on each of the given days. Each point has two versions. */
async function withDays(...days: readonly number[]): Promise<number> {
  const variableId = await createVariable(api.manager, sourceId, { isVersioned: true });
  for (const version of ['V1', 'V2']) {
    const data = days.map((number) => ({ date: day(number), value: number }));
    await api.manager.post('/api/data', [{ variableId, version, data }]);
    await api.ingest();
  }
  return variableId;
}

async function valuesOf(variableId: number, query = ''): Promise<readonly number[]> {
  const { body } = await api.manager.get<{ rawValue: number }[]>(`/data?variableId=${variableId}${query}`);
  return body.map(({ rawValue }) => rawValue);
}

const remove = (body: unknown, client = api.manager) => client.send<Removed>('DELETE', '/data', body);

describe('points: deletion', () => {
  test('removes all versions of the points in a period (start inclusive, end exclusive) and returns the number of dates (R-G5)', async () => {
    const variableId = await withDays(1, 2, 3, 4);
    const { status, body } = await remove({ variableIds: [variableId], fromDateUtc: day(2), toDateUtc: day(4) });
    expect({ status, body }).toEqual({
      status: 200,
      body: { results: [{ variableId, datapointCount: 2 }] },
    });
    expect(await valuesOf(variableId)).toEqual([1, 4]);
    expect(await valuesOf(variableId, '&versions=all')).toEqual([1, 1, 4, 4]);
    expect(await valuesOf(variableId, '&version=V1')).toEqual([1, 4]);
  });

  test('is audited with user, variables, period and count, unless `whatIf` is true or no point is removed (R-B14, R-G5)', async () => {
    const variableId = await withDays(1, 2, 3);
    const period = { fromDateUtc: day(2), toDateUtc: day(4) };
    await remove({ variableIds: [variableId], ...period, whatIf: true });
    await remove({ variableIds: [variableId], ...period });
    await remove({ variableIds: [variableId], ...period });
    const { body } = await api.manager.get(`/account/audit?action=PointsDeleted&targetId=${variableId}`);
    const details = { variableIds: [variableId], datapointCount: 2, ...period };
    expect(body).toEqual([expect.objectContaining({ userName: 'max', details, requestId: expect.any(String) })]);
  });

  test('without a period, removes all points of the variables and lists each variable once in the answer (R-G5)', async () => {
    const [first, second, empty] = [await withDays(1, 2), await withDays(3), await withDays()];
    const { body } = await remove({ variableIds: [second, first, empty, second] });
    expect(body.results).toEqual([
      { variableId: second, datapointCount: 1 },
      { variableId: first, datapointCount: 2 },
      { variableId: empty, datapointCount: 0 },
    ]);
    expect(await valuesOf(first, '&versions=all')).toEqual([]);
    const { body: versions } = await api.manager.get(`/variables/${first}/versions`);
    expect(versions).toEqual([]);
  });

  test('with `whatIf`, counts the points but removes none (R-G5)', async () => {
    const variableId = await withDays(1, 2);
    const eventsBefore = await countEvents();
    const { body } = await remove({ variableIds: [variableId], fromDateUtc: day(2), whatIf: true });
    expect(body.results).toEqual([{ variableId, datapointCount: 1 }]);
    expect(await valuesOf(variableId)).toEqual([1, 2]);
    expect(await countEvents()).toBe(eventsBefore);
  });

  test('accepts member names in upper or lower case and reads a date without a zone as UTC (R-A3, R-G5)', async () => {
    const variableId = await withDays(1, 2);
    const body = { VARIABLEIDS: [String(variableId)], FromDateUTC: '2026-01-02T00:00:00', WhatIf: 'False' };
    expect((await remove(body)).body.results).toEqual([{ variableId, datapointCount: 1 }]);
    expect(await valuesOf(variableId)).toEqual([1]);
  });

  test('reads a date without a time as midnight UTC (R-G5, R-A8)', async () => {
    const variableId = await withDays(1, 2, 3);
    const { body } = await remove({ variableIds: [variableId], fromDateUtc: '2026-01-02', toDateUtc: '2026-01-03' });
    expect(body.results).toEqual([{ variableId, datapointCount: 1 }]);
    expect(await valuesOf(variableId)).toEqual([1, 3]);
  });

  test('sends DataPointsWritten for the deleted dates (R-H5, R-I8)', async () => {
    const variableId = await withDays(1, 2, 3);
    await remove({ variableIds: [variableId], fromDateUtc: day(2) });
    const { rows } = await api.database.query<{ payload: unknown }>(
      `select payload from outbox_event where account_id = $1 and type = 'DataPointsWritten' order by id desc limit 1`,
      [api.accountId],
    );
    expect(rows[0]?.payload).toMatchObject({ variables: [{ variableId, from: day(2), to: day(3), count: 2 }] });
  });

  test('leaves the variable writable and versioned as before (R-F1, R-F2)', async () => {
    const variableId = await withDays(1, 2);
    await remove({ variableIds: [variableId] });
    for (const version of ['V1', 'V1', 'V3']) {
      await api.manager.post('/api/data', [{ variableId, version, data: [{ date: day(1), value: 5 }] }]);
      await api.ingest();
    }
    expect(await valuesOf(variableId, '&versions=all')).toEqual([5, 5]);
    const { body } = await api.manager.get<{ version: string }[]>(`/variables/${variableId}/versions`);
    expect(body.map(({ version }) => version)).toEqual(['V3', 'V1']);
  });

  const countEvents = async () =>
    (await api.database.query(`select from outbox_event where type = 'DataPointsWritten'`)).rowCount;
});

describe('deleting points: a refused request', () => {
  test.each([
    ['no variables', { variableIds: [] }, 400],
    ['no list of variables', {}, 400],
    ['an id that is not a number', { variableIds: ['x'] }, 400],
    ['an invalid date', { variableIds: [1], fromDateUtc: 'yesterday' }, 400],
    ['an end before the start', { variableIds: [1], fromDateUtc: day(3), toDateUtc: day(1) }, 400],
    ['a flag that is neither true nor false', { variableIds: [1], whatIf: 'maybe' }, 400],
    ['an unknown variable', { variableIds: [2_000_000_000] }, 404],
  ])('a request that has %s (%j) gets the status %i (R-A5)', async (_what, body, status) => {
    expect((await remove(body)).status).toBe(status);
  });

  test('is answered with the JSON path of the invalid member (R-A5)', async () => {
    expect(await remove({ variableIds: [1], fromDateUtc: day(3), toDateUtc: day(1) })).toMatchObject({
      body: { message: '$.fromDateUtc must not be later than $.toDateUtc', details: [{ path: '$.fromDateUtc' }] },
    });
    expect(await remove({ variableIds: [2_000_000_000] })).toMatchObject({
      body: { details: [{ path: '$.variableIds' }] },
    });
  });

  test('removes nothing when one of several variables does not exist or belongs to another account (R-G5, R-A5)', async () => {
    const variableId = await withDays(1);
    const strange = (await createStructure(api.stranger)).variableId;
    for (const other of [2_000_000_000, strange]) {
      expect((await remove({ variableIds: [variableId, other] })).status).toBe(404);
    }
    expect(await valuesOf(variableId)).toEqual([1]);
    expect((await remove({ variableIds: [variableId] }, api.stranger)).status).toBe(404);
    expect(await valuesOf(variableId)).toEqual([1]);
  });

  test('a USER gets 403 with either value of `whatIf`, even with access to the site (R-B8)', async () => {
    const variableId = await withDays(1);
    const user = await api.signIn('deleting-user', 'USER', { sites: [siteId] });
    for (const whatIf of [true, false]) {
      expect(await remove({ variableIds: [variableId], whatIf }, user)).toMatchObject({
        status: 403,
        body: { code: 'permission_denied' },
      });
    }
    expect(await valuesOf(variableId)).toEqual([1]);
  });
});
