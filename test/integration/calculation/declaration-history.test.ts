/**
 * The history of saved declarations: authors, notes, paging, restoring, and the declaration that a run names (R-H12).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { saveDeclarations } from '../../../src/calculation/declaration/save-declarations.ts';
import { runCalculation } from '../../../src/calculation/run/run-calculation.ts';
import type { Caller } from '../../../src/identity/caller/caller.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { withTransaction } from '../../../src/platform/database/database.ts';
import { openDictionary } from '../../../src/points/dictionary.ts';
import type { TestClient } from '../../support/clients/test-client.ts';
import { calculated, createSource, createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';
import { ok } from './calculation-fixture.ts';

interface Save {
  readonly id: number;
  readonly date: string | null;
  readonly userName: string | null;
  readonly impersonator: { readonly userName: string } | null;
  readonly note: string | null;
  readonly declarationHash: string | null;
  readonly calculated: { readonly calculatedVariableFormulas: readonly { readonly formula: string }[] } | null;
}

let api: TestApi;
let siteId: number;
let sourceId: number;
let source: number;
beforeAll(async () => {
  api = await startTestApi();
  ({ siteId, sourceId, variableId: source } = await createStructure(api.manager));
});
afterAll(() => api.close());

const script = (text: string) => calculated(text, [{ alias: 'a', variableId: source }]);
const pathOf = (variableId: number) => `/sources/${sourceId}/variables/${variableId}`;
const historyOf = async (variableId: number, query = '', client: TestClient = api.manager) =>
  (await client.get<readonly Save[]>(`${pathOf(variableId)}/calculated/history${query}`)).body;

async function save(variableId: number, members: object): Promise<void> {
  expect(await api.manager.put(pathOf(variableId), members)).toMatchObject({ status: 204 });
}

const addVariable = (members: object = {}) => createVariable(api.manager, sourceId, { ...members });
const scriptsOf = (saves: readonly Save[]) =>
  saves.map(({ calculated: given }) => given?.calculatedVariableFormulas[0]?.formula ?? null);

describe('declaration history: saves', () => {
  test('a save is kept with its author, instant, note, hash and script; saves are listed newest first (R-H12)', async () => {
    const id = await addVariable({ calculated: { ...script('a'), note: 'first' } });
    await save(id, { calculated: script('a * 2') });
    await save(id, { calculated: null });
    const saves = await historyOf(id);
    const manager = { userName: 'max', impersonator: null, date: expect.stringMatching(/^20.*Z$/) };
    expect(saves).toMatchObject([
      { ...manager, note: null, declarationHash: null, calculated: null },
      { ...manager, note: null, declarationHash: expect.stringMatching(/^v1-[0-9a-f]{64}$/) },
      { ...manager, note: 'first', declarationHash: expect.stringMatching(/^v1-[0-9a-f]{64}$/) },
    ]);
    expect(scriptsOf(saves)).toEqual([null, 'a * 2', 'a']);
  });

  test('a save that repeats the last declaration is kept only if the save has a note (R-H12)', async () => {
    const id = await addVariable({ calculated: script('a') });
    await save(id, { name: 'Renamed', calculated: script('a') });
    await api.manager.patch(pathOf(id), [{ op: 'replace', path: '/name', value: 'Patched' }]);
    expect(await historyOf(id)).toHaveLength(1);
    await save(id, { calculated: { ...script('a'), note: 'checked with the customer' } });
    expect((await historyOf(id)).map(({ note }) => note)).toEqual(['checked with the customer', null]);
  });

  test('the declaration is returned without its note, so a client that saves what it read does not repeat the note (R-H12)', async () => {
    const id = await addVariable({ calculated: { ...script('a'), Note: 'once' } });
    const { body } = await api.manager.get<{ calculated: object }>(`/variables/${id}?displayLevel=Verbose`);
    expect(Object.keys(body.calculated)).not.toContain('note');
    await save(id, body);
    await api.manager.patch(pathOf(id), [
      { op: 'replace', path: '/calculated/calculatedVariableFormulas/0/formula', value: 'a + 1' },
      { op: 'add', path: '/calculated/note', value: 'by a patch' },
    ]);
    expect((await historyOf(id)).map(({ note }) => note)).toEqual(['by a patch', 'once']);
  });

  test('a refused save leaves no entry (R-H12)', async () => {
    const id = await addVariable({ calculated: script('a') });
    for (const wrong of [{ ...script('b'), note: 'x'.repeat(2001) }, calculated('b', [{ alias: 'a', variableId: id }])])
      expect((await api.manager.put(pathOf(id), { calculated: wrong })).status).toBeGreaterThanOrEqual(400);
    expect(scriptsOf(await historyOf(id))).toEqual(['a']);
  });
});

describe('declaration history: reading', () => {
  test('a page has 100 entries by default and at most 1,000; `x-total-count` is the number of all saves (R-A7, R-H12)', async () => {
    const id = await addVariable();
    await api.database.query(
      `insert into declaration_save (account_id, variable_id, note, calculated)
       select $1, $2, n::text, '{"calculatedVariableFormulas":[]}' from generate_series(1, 1001) n`,
      [api.accountId, id],
    );
    const path = `${pathOf(id)}/calculated/history`;
    const first = await api.manager.get<readonly Save[]>(path, { 'x-total-count': 'true' });
    expect(first.headers.get('x-total-count')).toBe('1001');
    expect(first.body.map(({ note }) => note)).toEqual(Array.from({ length: 100 }, (_, index) => `${1001 - index}`));
    expect(await historyOf(id, '?itemsPerPage=1000')).toHaveLength(1000);
    expect((await historyOf(id, '?itemsPerPage=1000&pageNumber=1')).map(({ note }) => note)).toEqual(['1']);
    expect((await api.manager.get(`${path}?itemsPerPage=1001`)).status).toBe(400);
  });

  test('an entry has a hash, but no author, if its declaration was saved before the history existed (R-H12)', async () => {
    const id = await addVariable({ calculated: script('a') });
    const [saved] = await historyOf(id);
    await api.database.query(
      `update declaration_save set saved_date = null, user_id = null, user_name = null, declaration_hash = null
       where variable_id = $1`,
      [id],
    );
    await save(id, { calculated: script('a') });
    expect(await historyOf(id)).toEqual([{ ...saved, date: null, userId: null, userName: null }]);
  });

  test('an import that removes a declaration adds an entry, even when that declaration was saved before the history existed (R-H12)', async () => {
    const id = await addVariable({ calculated: script('a') });
    await api.database.query('update declaration_save set declaration_hash = null where variable_id = $1', [id]);
    const caller = { accountId: api.accountId, userId: 'u', userName: 'u', sites: 'all' } as unknown as Caller;
    await withTransaction(api.database, (transaction) =>
      saveDeclarations(transaction, caller, [{ variableId: id, sourceId, calculated: null }]),
    );
    expect(await historyOf(id)).toMatchObject([{ calculated: null }, { calculated: script('a') }]);
  });

  test('a USER without access to the variable gets 404 instead of its history (R-B9, R-H12)', async () => {
    const id = await addVariable({ calculated: script('a') });
    const granted = await api.signIn('una', 'USER', { sites: [siteId] });
    expect(scriptsOf(await historyOf(id, '', granted))).toEqual(['a']);
    const path = `${pathOf(id)}/calculated/history`;
    for (const client of [await api.signIn('udo', 'USER', { sites: [] }), api.stranger])
      expect((await client.get(path)).status).toBe(404);
    const otherSource = await createSource(api.manager, siteId);
    expect((await api.manager.get(path.replace(`/${sourceId}/`, `/${otherSource}/`))).status).toBe(404);
  });

  test('the history is deleted with the variable (R-C7, R-H12)', async () => {
    const id = await addVariable({ calculated: script('a') });
    await api.manager.delete(pathOf(id));
    const { rows } = await api.database.query('select from declaration_save where variable_id = $1', [id]);
    expect(rows).toEqual([]);
  });
});

describe('declaration history: restoring', () => {
  test('when an old declaration is saved again, the new entry and the next run have the hash of the old entry (R-H12)', async () => {
    const id = await addVariable({ calculated: script('a') });
    await save(id, { calculated: script('a / 0') });
    const [, old] = await historyOf(id);
    await save(id, { calculated: { ...old?.calculated, note: 'back to the first' } });
    const [restored] = await historyOf(id);
    expect(restored).toMatchObject({ note: 'back to the first', declarationHash: old?.declarationHash });
    expect(restored?.calculated).toEqual(old?.calculated);
    await api.manager.post('/api/data', [{ variableId: source, data: [{ date: '2026-01-01T00:00:00Z', value: 1 }] }]);
    await api.ingest();
    await api.manager.post(`/variables/${id}/forceUpdate`, {});
    const sandbox = { run: async () => ok([]), checkHealth: async () => {}, close: async () => {} };
    const { database } = api;
    const dictionary = openDictionary(database);
    await runCalculation({ database, dictionary, sandbox, clock: systemClock, maxInputPoints: 10 }, id, undefined);
    const { body: runs } = await api.manager.get(`/variables/${id}/runs`);
    expect(runs).toMatchObject([{ declarationHash: old?.declarationHash }]);
  });
});
