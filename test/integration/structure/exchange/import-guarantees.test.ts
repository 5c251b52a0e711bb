/**
 * Tests guarantees of the structure import. Greater values of `EXCHANGE_RUNS` and `IMPORT_MEBIBYTES` make the tests
 * longer and more thorough.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDeclarations } from '../../../../src/calculation/declaration/save-declaration.ts';
import { createLog } from '../../../../src/platform/log.ts';
import type { TestClient } from '../../../support/clients/test-client.ts';
import { eventually } from '../../../support/eventually.ts';
import { addStoredSource } from '../../../support/fixtures/stored-structure.ts';
import { createStructure } from '../../../support/fixtures/structure.ts';
import { structures } from '../../../support/models/structure-model.ts';
import { type ExchangeStack, type StructureDocument, startExchangeStack } from './exchange-fixture.ts';

const RUNS = Number(process.env.EXCHANGE_RUNS ?? 2);
const MEBIBYTES = Number(process.env.IMPORT_MEBIBYTES ?? 80);
const HEAP_MEBIBYTES = 64;
const HELD = 0x7374;
const [ROWS, SOURCES] = [8000, 2000];

let stack: ExchangeStack;
beforeAll(async () => {
  stack = await startExchangeStack(false);
});
afterAll(() => stack.close());

/** Starts a process that runs the imports of the accounts. */
function startProcess(accountIds: readonly number[], execArgv: readonly string[] = []) {
  const program = fileURLToPath(new URL('./import-process.ts', import.meta.url));
  const env = { PATH: process.env.PATH, DATABASE_URL: stack.api.parts.config.DATABASE_URL };
  const child = fork(program, accountIds.map(String), { env, execArgv: [...execArgv] });
  return { child, ended: once(child, 'exit') as Promise<[code: number | null, signal: string | null]> };
}

/** Blocks each insert into `table` whose row meets `condition`, until `release` is called. */
async function hold(table: string, condition: string) {
  const { database } = stack.api;
  const holder = new pg.Client({ connectionString: stack.api.parts.config.DATABASE_URL });
  await holder.connect();
  await holder.query('select pg_advisory_lock($1)', [HELD]);
  await database.query(`create or replace function held() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(${HELD}); return new; end $$`);
  await database.query(
    `create trigger held before insert on ${table} for each row when (${condition}) execute function held()`,
  );
  return {
    reached: (count: number) =>
      eventually(`${count} held statements`, async () => {
        const { rows } = await database.query<{ count: number }>(
          `select count(*) as count from pg_locks where locktype = 'advisory' and objid = ${HELD} and not granted
             and database = (select oid from pg_database where datname = current_database())`,
        );
        return rows[0]?.count === count;
      }),
    release: async () => {
      await holder.end();
      await database.query(`drop trigger held on ${table}`);
    },
  };
}

const DOCUMENT: StructureDocument = {
  sites: [{ name: 'Bakery' }, { name: 'Depot' }],
  sources: [{ siteName: 'Bakery', name: 'Oven' }],
  variables: [
    { siteName: 'Bakery', sourceName: 'Oven', mappingConfig: 'kWh' },
    {
      ...{ siteName: 'Bakery', sourceName: 'Oven', mappingConfig: 'sum' },
      calculated: { calculatedVariableFormulas: [{ formula: '1', variables: [{ alias: 'a', mappingConfig: 'kWh' }] }] },
    },
  ],
};
const CREATED = {
  sites: { created: 2, changed: 0, left: 0 },
  sources: { created: 1, changed: 0, left: 0 },
  variables: { created: 2, changed: 0, left: 0 },
};

const INPUTS = `
  with numbered as (select id, row_number() over (order by id) - 1 as n from variable where account_id = $1)
  select distinct reader.n::int as reader, input.n::int as input from variable_input
  join numbered reader on reader.id = variable_id join numbered input on input.id = input_variable_id order by 1, 2`;

async function inputsOf({ accountId }: { readonly accountId: number }) {
  const { rows } = await stack.api.database.query<{ reader: number; input: number }>(INPUTS, [accountId]);
  return rows.map(({ reader, input }) => [reader, input]);
}

describe('structure exchange: a random structure', () => {
  test('gives the same text when it is exported, imported into an empty account and exported again, as JSON and as xlsx (R-A13, R-H1)', async () => {
    const importer = stack.startImporter();
    const [first, second] = [await stack.newAccount(), await stack.newAccount()];
    const empty = () =>
      stack.api.database.query(`truncate site cascade; delete from unit where account_id is not null;
        delete from unit_family where account_id is not null; delete from catalogue_entry; delete from form`);
    const importWhole = async (client: TestClient, content: Parameters<ExchangeStack['run']>[1]) =>
      expect(await stack.run(client, content)).toMatchObject({ state: 'Completed', problems: [] });
    let isWorkbookTried = false;
    await fc.assert(
      fc.asyncProperty(structures, async ({ document, inputs }) => {
        await empty();
        await importWhole(first, document);
        expect(await inputsOf(first)).toEqual(inputs);
        const text = await stack.text(first);
        await importWhole(second, text);
        expect(await stack.text(second)).toBe(text);
        expect(await inputsOf(second)).toEqual(inputs);
        // Imports a workbook for the first random structure only, because the importer starts a process for every
        // workbook.
        if (isWorkbookTried) return;
        isWorkbookTried = true;
        const workbook = await stack.workbook(first);
        await empty();
        await importWhole(second, workbook);
        expect(await stack.text(second)).toBe(text);
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
    await importer.stop();
  }, 120_000);
});

describe('structure import: a process that is killed', () => {
  test('leaves the structure unchanged, and another process imports each document exactly once (R-K3)', async () => {
    const [reading, writing] = [await stack.newAccount(), await stack.newAccount()];
    const ids = [await stack.send(reading, DOCUMENT), await stack.send(writing, DOCUMENT)] as const;
    const rows = await hold('structure_import_row', `new.import_id = '${ids[0]}' and new.kind = 'variables'`);
    const before = [await stack.text(reading), await stack.text(writing)];
    // Blocks the import of the account named `writing` as soon as the import has written all sites, sources, variables
    // and declarations.
    const { database } = stack.api;
    await database.query(
      `create trigger held before insert on outbox_event for each row
       when (new.account_id = ${writing.accountId} and new.type = 'VariableCreated') execute function held()`,
    );
    const { child, ended } = startProcess([reading.accountId, writing.accountId]);
    await rows.reached(2);
    child.kill('SIGKILL');
    await ended;
    await rows.release();
    await database.query('drop trigger held on outbox_event');
    await eventually('the end of the killed sessions', async () => {
      const { rows: left } = await database.query(
        `select from pg_stat_activity where application_name = 'import-process' and datname = current_database()`,
      );
      return left.length === 0;
    });
    expect([await stack.text(reading), await stack.text(writing)]).toEqual(before);
    const importer = stack.startImporter();
    for (const [index, client] of [reading, writing].entries()) {
      const result = await stack.ended(client, ids[index] ?? '');
      expect(result).toMatchObject({ state: 'Completed', problems: [], counts: CREATED });
      expect(await inputsOf(client)).toEqual([[1, 0]]);
      expect(JSON.parse(await stack.text(client)).sites).toHaveLength(2);
    }
    await importer.stop();
  });
});

describe('structure import: a long import of one account', () => {
  test('lets another account import, push and read while the long import is Processing, even when three more imports of the first account wait (R-A14)', async () => {
    const importer = stack.startImporter();
    const [large, small] = [await stack.newAccount(), stack.api.manager];
    const held = await hold('outbox_event', `new.account_id = ${large.accountId} and new.type = 'VariableCreated'`);
    const queue = [await stack.send(large, DOCUMENT)];
    await held.reached(1);
    for (let count = 0; count < 3; count += 1) queue.push(await stack.send(large, DOCUMENT));
    const { variableId } = await createStructure(small);
    expect(await stack.run(small, DOCUMENT)).toMatchObject({ state: 'Completed', counts: CREATED });
    const pushed = await small.post('/api/data', [{ variableId, data: [{ date: '2026-03-01T00:00:00Z', value: 1 }] }]);
    expect(pushed.status).toBe(200);
    await stack.api.ingest();
    expect((await small.get<unknown[]>(`/data?variableId=${variableId}`)).body).toHaveLength(1);
    const stateOf = async (id: string) => (await large.get<{ state: string }>(`/structure/import/${id}`)).body.state;
    expect(await Promise.all(queue.map(stateOf))).toEqual(['Processing', 'Queued', 'Queued', 'Queued']);
    await held.release();
    for (const id of queue) expect((await stack.ended(large, id)).state).toBe('Completed');
    await importer.stop();
  });
});

describe('structure exchange: ten accounts that import and export at the same time', () => {
  test('let an eleventh account read, export and import; the import of the eleventh account overtakes at least two earlier imports (R-A14)', async () => {
    const importer = stack.startImporter();
    const many = await Promise.all(Array.from({ length: 10 }, () => stack.newAccount()));
    const small = await stack.newAccount();
    const accountIds = many.map(({ accountId }) => accountId).join();
    const held = await hold('outbox_event', `new.account_id in (${accountIds}) and new.type = 'VariableCreated'`);
    const firsts = await Promise.all(many.map((client) => stack.send(client, DOCUMENT)));
    const SECOND = { sites: [{ name: 'Second' }] };
    const seconds = await Promise.all(many.slice(0, 5).map((client) => stack.send(client, SECOND)));
    // Waits until both workers of the importer are blocked, each inside a transaction.
    await held.reached(2);
    const own = await stack.send(small, DOCUMENT);
    const exported = many.map((client) => stack.text(client));
    expect((await small.get('/sites')).body).toEqual([]);
    expect(JSON.parse(await stack.text(small)).sites).toEqual([]);
    for (const text of await Promise.all(exported)) expect(JSON.parse(text).sites).toEqual([]);
    await held.release();
    const ended = (id: string, index: number) => stack.ended(many[index] as TestClient, id);
    await Promise.all([...firsts.map(ended), ...seconds.map(ended)]);
    expect(await stack.ended(small, own)).toMatchObject({ state: 'Completed', counts: CREATED });
    const { rows } = await stack.api.database.query<{ id: string }>(
      'select id from structure_import where id = any($1::uuid[]) order by completed_date',
      [[own, ...seconds]],
    );
    // Accounts take turns, so the import of `small` starts before any other account's second import starts. While one
    // worker processes the import of `small`, the other worker may complete some of the second imports.
    expect(rows.findIndex(({ id }) => id === own)).toBeLessThanOrEqual(3);
    await importer.stop();
  }, 120_000);
});

describe('structure import: the queue of an account', () => {
  test('holds at most STRUCTURE_IMPORT_MAX_WAITING imports: with this setting at 5, three of eight imports sent at the same time get 503 (R-A14)', async () => {
    const client = await stack.newAccount();
    const post = () => client.post<{ id?: string; code?: string }>('/structure/import', {});
    const answers = await Promise.all(Array.from({ length: 8 }, post));
    const refused = answers.filter(({ status }) => status !== 202);
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(Array(3).fill([503, 'queue_full']));
    const importer = stack.startImporter();
    for (const { body } of answers) if (body.id) await stack.ended(client, body.id);
    expect((await post()).status).toBe(202);
    await importer.stop();
  });
});

describe('structure import: the importer', () => {
  test('logs the id of an import that fails and is tried again', async () => {
    const client = await stack.newAccount();
    const lines: object[] = [];
    const log = Object.assign(createLog('silent', 'test'), { warn: (fields: object) => void lines.push(fields) });
    const lockGraph = () => Promise.reject(new Error('broken'));
    const declarations = { ...openDeclarations(stack.api.parts.database), lockGraph };
    const broken = stack.startImporter({ declarations, log });
    const importId = await stack.send(client, DOCUMENT);
    await eventually('the line', async () => lines.length > 0);
    await broken.stop();
    const err = expect.objectContaining({ message: 'broken' });
    expect(lines[0]).toMatchObject({ accountId: client.accountId, importId, err });
    const importer = stack.startImporter();
    expect((await stack.ended(client, importId)).state).toBe('Completed');
    await importer.stop();
  });

  test('without database statistics about the account’s variables, an import takes at most three times as long as with them, plus 1 s', async () => {
    const { database } = stack.api;
    const [importer, client, other] = [stack.startImporter(), await stack.newAccount(), await stack.newAccount()];
    const otherSource = await addStoredSource(database, other.accountId);
    await database.query(
      `insert into variable (account_id, source_id, name) select $1, $2, 'V' || n from generate_series(1, 100000) n`,
      [other.accountId, otherSource],
    );
    await database.query('analyze variable');
    const importMs = async (name: string) => {
      const startMs = performance.now();
      const id = await stack.send(client, {
        sites: [{ name: 'S' }],
        sources: Array.from({ length: SOURCES }, (_, index) => ({
          siteName: 'S',
          name: 'A',
          serialNumber: `${index}`,
        })),
        variables: Array.from({ length: ROWS }, (_, index) => {
          return { siteName: 'S', sourceSerialNumber: `${index % SOURCES}`, name, mappingConfig: `m${index}` };
        }),
      });
      expect(await stack.ended(client, id)).toMatchObject({ state: 'Completed', problemCount: 0 });
      return performance.now() - startMs;
    };
    await importMs('created');
    await database.query('analyze structure_import_row');
    const withoutThem = await importMs('changed');
    await database.query('analyze variable, source');
    expect(withoutThem).toBeLessThan(3 * (await importMs('changed again')) + 1000);
    await importer.stop();
  });

  test(`a heap of ${HEAP_MEBIBYTES} MiB is enough to import a document of ${MEBIBYTES} MiB (R-E2)`, async () => {
    const client = await stack.newAccount();
    const filler = 'x'.repeat(32 * 1024);
    const sites = Array.from({ length: MEBIBYTES * 32 }, (_, index) => ({ name: `S${index}`, clientData: { filler } }));
    const id = await stack.send(client, { sites });
    const { ended } = startProcess([client.accountId], [`--max-old-space-size=${HEAP_MEBIBYTES}`]);
    expect(await ended).toEqual([0, null]);
    expect(await stack.ended(client, id)).toMatchObject({
      state: 'Completed',
      counts: { sites: { created: sites.length } },
    });
  });
});
