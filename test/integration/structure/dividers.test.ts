/**
 * Two fields of variables: `divider` divides the readings of pushes, mappers, replays and files; `isDefault` selects
 * the target of a push that names only the source (R-C6, R-D2).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addClaim } from '../../../src/accounts/members/claims.ts';
import { describeDividers } from '../../../src/structure/operator-reports.ts';
import { createSite, createSource, createStructure, createVariable } from '../../support/fixtures/structure.ts';
import type { TestApi } from '../../support/services/start-api.ts';
import { type FileStack, startFileStack } from '../files/files-fixture.ts';

let files: FileStack;
let api: TestApi;
beforeAll(async () => {
  files = await startFileStack();
  api = files.api;
});
afterAll(() => files?.close());

const at = (hour: number) => `2026-03-01T0${hour}:00:00Z`;

interface PushAnswer {
  readonly accepted: object;
  readonly rejected: readonly { readonly code: string; readonly message: string }[];
}
const push = async (elements: readonly object[]) => {
  const { status, body } = await api.manager.post<PushAnswer>('/api/data', elements);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const valuesOf = async (variableId: number) => {
  await api.ingest();
  const { body } = await api.manager.get<{ rawValue: number }[]>(`/data?variableId=${variableId}`);
  return body.map(({ rawValue }) => rawValue);
};
const readings = (...values: readonly number[]) => values.map((value, hour) => ({ date: at(hour), value }));

describe('variable: the divider divides the values that clients send (R-C6)', () => {
  it('the divider applies to a push with an uncached or a cached target, and to a large push', async () => {
    const { sourceId, variableId } = await createStructure(api.manager, { divider: 1000, mappingConfig: 'Wh' });
    const plain = await createVariable(api.manager, sourceId);
    // The first push looks up its target in the database, and the second finds the same target in the cache. The third
    // push is large, so a worker thread parses it.
    await push([{ variableId, data: [{ date: at(0), value: 5 }] }]);
    await push([{ variableId, data: [{ date: at(1), value: 1500 }] }]);
    const many = Array.from({ length: 4000 }, (_, index) => ({
      date: `2026-04-01T00:00:00.${index + 1000}Z`,
      value: 7,
    }));
    await push([
      { sourceId, mappingConfig: 'Wh', data: [{ date: at(3), value: -1 }, ...many, { date: at(2), value: 2 }] },
      { variableId: plain, data: readings(5) },
    ]);
    expect((await valuesOf(variableId)).slice(0, 5)).toEqual([0.005, 1.5, 0.002, -0.001, 0.007]);
    expect(await valuesOf(plain)).toEqual([5]);
  });

  it('the divider applies to a push through a mapper and to a replay of rejected elements', async () => {
    const { sourceId, variableId } = await createStructure(api.manager, { divider: 4, mappingConfig: 'mapped' });
    const { rows } = await api.database.query<{ id: string }>(`select id from app_user where user_name = 'max'`);
    const userId = rows[0]?.id ?? '';
    await addClaim(api.database, { accountId: api.accountId, userId, claimType: 'datapusher.custom' });
    const expression = `[{ "sourceId": ${sourceId}, "mappingConfig": name, "data": [{ "date": at, "value": value }] }]`;
    const { body } = await api.manager.post<{ id: string }>('/account/mappers', { name: 'm', expression });
    const send = (name: string, value: number) =>
      api.manager.post<PushAnswer & { operationId: string }>(`/api/generic/${body.id}`, { name, at: at(0), value });
    expect((await send('mapped', 10)).status).toBe(200);
    const { operationId } = (await send('later', 6)).body;
    const later = await createVariable(api.manager, sourceId, { divider: -2, mappingConfig: 'later' });
    expect((await api.manager.post(`/api/operations/${operationId}/replay`, {})).status).toBe(200);
    expect([await valuesOf(variableId), await valuesOf(later)]).toEqual([[2.5], [-3]]);
  });

  it('the divider applies to the values of a file', async () => {
    const { variableId } = await createStructure(api.manager, { divider: 8 });
    files.startIngester();
    const fileId = await files.upload('a.csv', `variable_id,date,value\n${variableId},2026-03-01T00:00:00,20\n`);
    expect((await files.ended(fileId)).state).toBe('Completed');
    expect(await valuesOf(variableId)).toEqual([2.5]);
  });

  it('a new divider applies to later pushes, not to stored points; 0 is refused with 400', async () => {
    const { sourceId, variableId } = await createStructure(api.manager, { divider: 10 });
    const path = `/sources/${sourceId}/variables/${variableId}`;
    const [first, second, third] = readings(1, 1, 1);
    await push([{ variableId, data: [first] }]);
    expect((await api.manager.put(path, { divider: 100 })).status).toBe(204);
    await push([{ variableId, data: [second] }]);
    expect(await describeDividers(api.database)).toContain(
      `account ${api.accountId}, source ${sourceId}, variable ${variableId}: readings that arrive are divided by 100`,
    );
    expect((await api.manager.put(path, { divider: null })).status).toBe(204);
    await push([{ variableId, data: [third] }]);
    expect(await valuesOf(variableId)).toEqual([0.1, 0.01, 1]);
    expect(await api.manager.put(path, { divider: 0 })).toMatchObject({
      status: 400,
      body: { details: [{ path: '$.divider', message: expect.stringContaining('must not be 0') }] },
    });
  });

  it('when the divider makes a value infinite, the answer is 400 with the path of the value (R-D1)', async () => {
    const { variableId } = await createStructure(api.manager, { divider: 1e-9 });
    for (let round = 0; round < 2; round += 1) {
      const answer = await api.manager.post('/api/data', [{ variableId, data: readings(1, 1e300) }]);
      expect(answer).toMatchObject({ status: 400, body: { details: [{ path: '$[0].data[1].value' }] } });
      await push([{ variableId, data: readings(1) }]);
    }
  });
});

describe('variable: isDefault selects the target of a push that names only the source (R-C6, R-D2)', () => {
  it('the default variable gets the readings, unless the push names the mappingConfig of another variable', async () => {
    const siteId = await createSite(api.manager);
    const sourceId = await createSource(api.manager, siteId, { serialNumber: 'DEF-1' });
    const other = await createVariable(api.manager, sourceId, { mappingConfig: 'other', divider: 2 });
    const chosen = await createVariable(api.manager, sourceId, { isDefault: true, divider: 5 });
    await push([
      { sourceSerialNumber: 'DEF-1', data: readings(10) },
      { sourceSerialNumber: 'DEF-1', mappingConfig: 'other', data: readings(10) },
    ]);
    expect([await valuesOf(chosen), await valuesOf(other)]).toEqual([[2], [5]]);
  });

  it('an ambiguous element is rejected: no default variable, two default variables, or two matching sources', async () => {
    const siteId = await createSite(api.manager);
    const [first, second] = [
      await createSource(api.manager, siteId, { name: 'Twin' }),
      await createSource(api.manager, siteId, { name: 'Twin' }),
    ];
    const [chosen, another] = [await createVariable(api.manager, first), await createVariable(api.manager, first)];
    const ambiguous = async (identifiers: object) => (await push([{ ...identifiers, data: readings(1) }])).rejected;
    const advice =
      'add mappingConfig or variableTypeId, or name one source and set isDefault to true for exactly one of its variables';
    expect(await ambiguous({ sourceId: first })).toMatchObject([
      {
        code: 'target_ambiguous',
        message: `2 variables have sourceId ${first}, and isDefault is true for none of them; ${advice}`,
      },
    ]);
    await api.manager.put(`/sources/${first}/variables/${chosen}`, { isDefault: true });
    expect(await ambiguous({ sourceId: first })).toEqual([]);
    await createVariable(api.manager, second);
    expect(await ambiguous({ sourceName: 'Twin' })).toMatchObject([{ code: 'target_ambiguous' }]);
    await api.database.query('alter table variable disable trigger variable_single_default_update');
    await api.database.query('update variable set is_default = true where id = $1', [another]);
    await api.database.query('alter table variable enable trigger variable_single_default_update');
    expect(await ambiguous({ sourceId: first })).toMatchObject([
      { message: expect.stringContaining('isDefault is true for 2 of them') },
    ]);
    // The source has two default variables. A PUT of either variable still succeeds with the body that GET returned.
    for (const id of [chosen, another]) {
      const { body } = await api.manager.get<object>(`/variables/${id}`);
      expect((await api.manager.put(`/sources/${first}/variables/${id}`, body)).status).toBe(204);
    }
  });

  it('a POST, a PUT or a move that would make a second default gets 409, and the error names the first default; of 6 concurrent POSTs of a default, exactly one succeeds', async () => {
    const { siteId, sourceId, variableId } = await createStructure(api.manager, { isDefault: true });
    const message = `isDefault can be true for only one variable of a source; it is already true for variable ${variableId} ("Power") of source ${sourceId}`;
    const taken = { status: 409, body: { code: 'conflict', message, details: [{ path: '$.isDefault' }] } };
    const other = await createVariable(api.manager, sourceId);
    expect(await api.manager.post(`/variables/source/${sourceId}`, { isDefault: true })).toMatchObject(taken);
    expect(await api.manager.put(`/sources/${sourceId}/variables/${other}`, { isDefault: true })).toMatchObject(taken);
    const elsewhere = await createSource(api.manager, siteId);
    const moved = await createVariable(api.manager, elsewhere, { isDefault: true });
    const move = await api.manager.put(`/sources/${elsewhere}/variables/${moved}`, { sourceId });
    expect(move).toMatchObject(taken);
    const fresh = await createSource(api.manager, siteId);
    const statuses = await Promise.all(
      Array.from({ length: 6 }, async () => {
        return (await api.manager.post(`/variables/source/${fresh}`, { isDefault: true })).status;
      }),
    );
    expect(statuses.sort()).toEqual([200, 409, 409, 409, 409, 409]);
  });
});
