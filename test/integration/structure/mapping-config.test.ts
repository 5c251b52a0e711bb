/** The `mappingConfig` of a variable is unique within the source. Its case matters; white space around it does not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { createLog } from '../../../src/platform/log.ts';
import { describeRepeatedMappings } from '../../../src/structure/operator-reports.ts';
import { createPopulatedDatabase } from '../../support/fixtures/populated-database.ts';
import { createSource, createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const LOG = createLog('silent', 'test');

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

const make = () => createStructure(api.manager, { name: 'Import', mappingConfig: 'kWh' });
const read = async (variableId: number) =>
  (await api.manager.get<{ mappingConfig: unknown }>(`/variables/${variableId}`)).body;

describe('variable: mappingConfig is unique within its source (R-D2)', () => {
  const taken = (otherId: number, sourceId: number) => ({
    status: 409,
    body: {
      code: 'conflict',
      message: `mappingConfig must be unique within a source; "kWh" is used by variable ${otherId} ("Import") of source ${sourceId}`,
      details: [{ path: '$.mappingConfig' }],
    },
  });

  it('a POST of a taken mappingConfig, with or without white space around it, gets 409, and the error names the variable that has this mappingConfig', async () => {
    const { sourceId, variableId } = await make();
    for (const mappingConfig of ['kWh', ' kWh\t', '\u00a0kWh\ufeff']) {
      const answer = await api.manager.post(`/variables/source/${sourceId}`, { mappingConfig });
      expect(answer).toMatchObject(taken(variableId, sourceId));
    }
  });

  it('a PUT or PATCH that sets a taken mappingConfig gets 409, and so does a PUT that moves a variable to a source where the variable’s mappingConfig is taken', async () => {
    const { siteId, sourceId, variableId } = await make();
    const other = await createVariable(api.manager, sourceId, { mappingConfig: 'kwh' });
    const path = `/sources/${sourceId}/variables/${other}`;
    expect(await api.manager.put(path, { mappingConfig: 'kWh' })).toMatchObject(taken(variableId, sourceId));
    const operations = [{ op: 'replace', path: '/mappingConfig', value: 'kWh' }];
    expect(await api.manager.patch(path, operations)).toMatchObject(taken(variableId, sourceId));
    const elsewhere = await createSource(api.manager, siteId);
    const moved = await createVariable(api.manager, elsewhere, { mappingConfig: 'kWh' });
    const moving = await api.manager.put(`/sources/${elsewhere}/variables/${moved}`, { sourceId });
    expect(moving).toMatchObject(taken(variableId, sourceId));
  });

  it('of 8 concurrent POSTs with the same mappingConfig, one creates a variable; the others get 409 with the id of that variable', async () => {
    const { sourceId } = await make();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        api.manager.post<{ id: number; message: string }>(`/variables/source/${sourceId}`, { mappingConfig: 'racing' }),
      ),
    );
    const [winner, ...more] = answers.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    const losers = answers.filter(({ status }) => status === 409);
    expect(losers).toHaveLength(7);
    for (const { body } of losers) expect(body.message).toContain(`variable ${winner?.body.id} `);
  });

  it('the rule ignores blank mappingConfigs and other sources, and distinguishes letter case', async () => {
    const { siteId, sourceId, variableId } = await make();
    await createVariable(api.manager, sourceId, { mappingConfig: 'KWH' });
    await createVariable(api.manager, await createSource(api.manager, siteId), { mappingConfig: 'kWh' });
    for (const mappingConfig of [undefined, null, '', '  ']) {
      expect((await read(await createVariable(api.manager, sourceId, { mappingConfig }))).mappingConfig).toBeNull();
    }
    const { status } = await api.manager.put(`/sources/${sourceId}/variables/${variableId}`, await read(variableId));
    expect(status).toBe(204);
  });

  it('white space around the mappingConfig of a variable or of a push is ignored; a blank mappingConfig of a push is ignored too', async () => {
    const { variableId } = await createStructure(api.manager, { mappingConfig: ' spaced ' });
    expect((await read(variableId)).mappingConfig).toBe('spaced');
    const data = [{ date: '2026-03-01T00:00:00Z', value: 1 }];
    const elements = [{ mappingConfig: '  spaced' }, { variableId, mappingConfig: ' ' }, { mappingConfig: ' ' }];
    const { body } = await api.manager.post<{ rejected: unknown }>(
      '/api/data',
      elements.map((element) => ({ ...element, data })),
    );
    expect(body.rejected).toMatchObject([{ index: 2, code: 'target_not_found' }]);
  });
});

describe('migration: a mappingConfig that variables of a source share', () => {
  it('makes the upgrade fail with an error that names the variables; after the mappingConfig of one variable is cleared, the upgrade succeeds', async () => {
    const old = await createPopulatedDatabase('0029');
    try {
      const { rows } = await old.client.query<{ id: number; source: number }>(
        `insert into variable (account_id, source_id, mapping_config)
         select account_id, id, mapping from source, unnest(array[' a"b', 'a"b ', '', ' ', 'A"b', null]) mapping
         where id = 1 returning id, source_id as source`,
      );
      const [first, second] = rows.map(({ id }) => id);
      const named = `source 1 has variables ${first}, ${second} with "a\\"b"`;
      await expect(migrate(old.url, LOG)).rejects.toThrow(named);
      await expect(migrate(old.url, LOG)).rejects.toThrow('npm run admin -- repeated-mappings');
      const [line] = await describeRepeatedMappings(old.client);
      expect(line).toBe(`account 1, source 1: "a\\"b" is used by variables ${first}, ${second}`);
      await old.client.query('update variable set mapping_config = null where id = $1', [second]);
      await migrate(old.url, LOG);
      const after = await old.client.query<{ mapping: string }>(
        'select mapping_config as mapping from variable where id = any($1::int[]) order by id',
        [rows.map(({ id }) => id)],
      );
      expect(after.rows.map(({ mapping }) => mapping)).toEqual(['a"b', null, null, null, 'A"b', null]);
      expect(await describeRepeatedMappings(old.client)).toEqual([
        'found no mappingConfig that several variables of a source share',
      ]);
    } finally {
      await old.drop();
    }
  });
});
