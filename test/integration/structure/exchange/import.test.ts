/** `POST /structure/import` of JSON: what it creates, changes, leaves unchanged and refuses. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../../support/eventually.ts';
import { createStructure } from '../../../support/fixtures/structure.ts';
import { type ExchangeStack, type Row, type StructureDocument, startExchangeStack } from './exchange-fixture.ts';

let stack: ExchangeStack;
beforeAll(async () => {
  stack = await startExchangeStack();
});
afterAll(() => stack.close());

const INPUT = { periodType: 'RelativeDate', period: 1, periodTimeBase: 'Hour', canBeUsedAsATrigger: true };
const calculated = (...variables: readonly Row[]): Row => ({
  calculatedVariableFormulas: [{ formula: '1', variables: variables.map((one) => ({ ...INPUT, ...one })) }],
});
const BAKERY: StructureDocument = {
  sites: [
    { name: 'Bakery', timeZoneId: 'Europe/Brussels', clientData: { Form: { a: 1 } } },
    { externalId: 'E-2', name: 'Depot' },
  ],
  sources: [
    { siteName: 'Bakery', serialNumber: 'OVEN-1', name: 'Oven', tags: ['hot'] },
    { siteExternalId: 'E-2', name: 'Meter' },
  ],
  variables: [
    {
      ...{ siteName: 'Bakery', sourceSerialNumber: 'OVEN-1', mappingConfig: 'sum', isVersioned: true },
      calculated: calculated(
        { alias: 'own', mappingConfig: 'kWh' },
        { alias: 'other', siteExternalId: 'E-2', sourceName: 'Meter', mappingConfig: 'in' },
      ),
    },
    { siteName: 'Bakery', sourceSerialNumber: 'OVEN-1', mappingConfig: 'kWh', quantityType: 2, name: 'Energy' },
    { siteExternalId: 'E-2', sourceName: 'Meter', mappingConfig: 'in' },
  ],
};

describe('structure import: a document', () => {
  test('creates sites, sources and variables with their formulas; a second import changes nothing (R-C4–C6, R-H1)', async () => {
    const manager = await stack.newAccount();
    const first = await stack.run(manager, BAKERY);
    expect(first.problems).toEqual([]);
    expect(first).toMatchObject({
      ...{ state: 'Completed', format: 'json', whatIf: false, progress: { phase: 'Ended', rows: 7 } },
      counts: { sites: { created: 2 }, sources: { created: 2 }, variables: { created: 3 } },
    });
    const { body: variables } = await manager.get<readonly Row[]>('/variables?displayLevel=Verbose');
    expect(
      variables.map(({ name, mappingConfig, quantityType, isVersioned }) => [
        name,
        mappingConfig,
        quantityType,
        isVersioned,
      ]),
    ).toEqual([
      ['', 'sum', null, true],
      ['Energy', 'kWh', 'Integrated', false],
      ['', 'in', null, false],
    ]);
    const inputs = [variables[1]?.id, variables[2]?.id].map((variableId) => ({ variableId }));
    expect(variables[0]?.calculated).toMatchObject({ calculatedVariableFormulas: [{ variables: inputs }] });
    const again = await stack.run(manager, BAKERY);
    expect(again.counts).toEqual({
      catalogues: { created: 0, changed: 0, left: 0 },
      forms: { created: 0, changed: 0, left: 0 },
      sites: { created: 0, changed: 0, left: 2 },
      sources: { created: 0, changed: 0, left: 2 },
      variables: { created: 0, changed: 0, left: 3 },
    });
  });

  test('when an exported document is imported into an empty account, an export of this account gives the same document', async () => {
    const [from, to] = [await stack.newAccount(), await stack.newAccount()];
    await stack.run(from, BAKERY);
    const text = await stack.text(from);
    expect(await stack.run(to, text)).toMatchObject({ state: 'Completed', problems: [] });
    expect(await stack.text(to)).toBe(text);
  });

  test('an import with `whatIf` writes nothing, but shows for each row of the document whether it would create, change or keep a resource, and which fields it would change', async () => {
    const manager = await stack.newAccount();
    await stack.run(manager, BAKERY);
    const before = await stack.text(manager);
    const changed = {
      sites: [{ name: 'Bakery', city: 'Ghent', clientData: { Form: { a: 2 } } }, { name: 'New' }],
      sources: [{ siteName: 'Bakery', serialNumber: 'OVEN-1', name: 'Oven' }],
      variables: [
        { siteName: 'Bakery', sourceSerialNumber: 'OVEN-1', mappingConfig: 'kWh', quantityType: 'Cumulative' },
        { siteName: 'Bakery', sourceSerialNumber: 'OVEN-1', mappingConfig: 'sum', calculated: null },
      ],
    };
    const result = await stack.run(manager, changed, { whatIf: true });
    expect(result).toMatchObject({ state: 'Completed', whatIf: true, problems: [] });
    const rows = await stack.rows(manager, result.id);
    const [bakery, created, oven, energy, sum] = rows;
    expect(bakery).toMatchObject({
      ...{ kind: 'sites', place: '$.sites[0]', action: 'Changed' },
      changes: { city: { from: null, to: 'Ghent' }, clientData: { from: { Form: { a: 1 } }, to: { Form: { a: 2 } } } },
    });
    expect(created).toEqual({ kind: 'sites', place: '$.sites[1]', action: 'Created', id: null });
    expect(oven?.action).toBe('Left');
    expect(energy?.changes).toEqual({ quantityType: { from: 'Integrated', to: 'Cumulative' } });
    expect(sum?.changes?.calculated).toMatchObject({
      from: { calculatedVariableFormulas: [{ formula: '1' }] },
      to: null,
    });
    expect(await stack.rows(manager, result.id, '?action=Created')).toHaveLength(1);
    expect(await stack.text(manager)).toBe(before);
    expect((await stack.run(manager, changed)).counts.sites).toEqual({ created: 1, changed: 1, left: 0 });
    expect(await stack.text(manager)).not.toBe(before);
  });

  test('causes one event for each resource that its import creates or changes (R-I2, R-I8)', async () => {
    const manager = await stack.newAccount();
    const events = async () => {
      const { rows } = await stack.api.database.query<{ type: string; payload: Row }>(
        'select type, payload from outbox_event where account_id = $1 order by id',
        [manager.accountId],
      );
      return rows.map(({ type, payload }) => `${type} ${payload.name}`);
    };
    await stack.api.database.query(`create table seen as select * from outbox_event where false`);
    await stack.api.database.query(`create or replace function keep_seen() returns trigger language plpgsql as
      $$ begin insert into seen select (new).*; return null; end $$`);
    await stack.api.database.query(
      'create trigger keep_seen after insert on outbox_event for each row execute function keep_seen()',
    );
    await stack.run(manager, BAKERY);
    await stack.run(manager, { variables: [{ ...BAKERY.variables?.[0], calculated: null }] });
    const { rows } = await stack.api.database.query<{ type: string; count: number }>(
      'select type, count(*) as count from seen where account_id = $1 group by type order by type',
      [manager.accountId],
    );
    await stack.api.database.query('drop trigger keep_seen on outbox_event');
    expect(rows).toEqual([
      { type: 'SiteCreated', count: 2 },
      { type: 'SourceCreated', count: 2 },
      { type: 'VariableCreated', count: 3 },
      { type: 'VariableUpdated', count: 1 },
    ]);
    // The importer relays events after it has ended the import.
    await eventually('the relay of every event', async () => (await events()).length === 0);
  });
});

describe('structure import: a document with problems', () => {
  const problemsOf = async (document: StructureDocument, prepare?: StructureDocument) => {
    const manager = await stack.newAccount();
    if (prepare) await stack.run(manager, prepare);
    const before = await stack.text(manager);
    const result = await stack.run(manager, document);
    expect(result.state).toBe('Refused');
    expect(result.problemCount).toBe(result.problems.length);
    expect(await stack.text(manager)).toBe(before);
    return result.problems.map(({ path, message }) => `${path} ${message}`);
  };
  const twins = {
    sites: [
      { name: 'A', occurrence: 1 },
      { name: 'A', occurrence: 2 },
    ],
  };
  const inA = { sources: [{ siteName: 'A', name: 'S' }] };
  const HOME = { sites: [{ name: 'A' }], ...inA };
  /** @returns a variable of the source in HOME. With `input`, the variable is calculated from this input. */
  const inS = (mappingConfig: string, input?: Row): Row => ({
    ...{ siteName: 'A', sourceName: 'S', mappingConfig },
    ...(input && { calculated: calculated(input) }),
  });
  const OF_SITE = [{ formula: '1', entities: [{ alias: 'f', entityType: 'Source', siteName: 'A', form: 'F' }] }];
  const AMBIGUOUS =
    /names a site by the name "A", which 2 sites have; set siteOccurrence to 1 for the lowest id, 2 for the next/;

  test('is refused as a whole; the result names each problem with its path (R-A5)', async () => {
    const site = { name: 'A' };
    const found = await problemsOf({
      sites: [site, { name: '' }, { timeZoneId: 'UTC' }, { name: 'B', typeId: 1.5 }, { name: 'C', typeId: 'x' }],
      sources: [{ name: 'no site' }, { siteName: 'B', name: 'S' }],
      variables: [{ siteName: 'A', sourceName: 'S', granularity: 0 }],
    });
    expect(found).toEqual([
      expect.stringMatching(/^\$\.sites\[1\]\.name must not be empty/),
      '$.sites[2] must have externalId or name',
      expect.stringMatching(/^\$\.sites\[3\]\.typeId must be an id or the name of a catalogue entry$/),
      '$.sources[0] must have siteExternalId or siteName',
      expect.stringMatching(/^\$\.variables\[0\]\.granularity /),
      expect.stringMatching(
        /^\$\.sites\[4\]\.typeId must be an id, or the name of an entry of GET \/sitetypes or of the document, got "x"/,
      ),
      '$.sources[1] names a site that neither the account nor a valid row of the document has: the name "B"',
    ]);
  });

  test.concurrent.each<[string, StructureDocument, RegExp, StructureDocument?]>([
    [
      'a parent that does not exist',
      { sources: [{ siteName: 'X', name: 'S' }] },
      /^\$\.sources\[0\] names a site that neither/,
    ],
    ['a repeated row', { sites: [{ name: 'A' }, { name: 'A' }] }, /^\$\.sites\[1\] repeats the key of \$\.sites\[0\]$/],
    [
      'an ambiguous row',
      { sites: [{ name: 'A', city: 'G' }] },
      /is ambiguous: 2 sites have the name "A"; set occurrence to 1 for the lowest id, 2 for the next/,
      twins,
    ],
    ['an ambiguous parent', inA, AMBIGUOUS, twins],
    [
      'an ambiguous parent name that a site with an identifier has too',
      inA,
      AMBIGUOUS,
      { sites: [...twins.sites, { externalId: 'E', name: 'A' }] },
    ],
    [
      'a parent name that only two sites with identifiers have',
      inA,
      /names a site by the name "A", but every site with this name has an identifier \(2 found\); set siteExternalId to the identifier of the site$/,
      { sites: ['E', 'F'].map((externalId) => ({ externalId, name: 'A' })) },
    ],
    [
      'a siteOccurrence above the number of sites with the name',
      { sources: [{ siteName: 'A', siteOccurrence: 3, name: 'S' }] },
      /names a site that neither the account nor a valid row of the document has: the name "A", siteOccurrence 3$/,
      twins,
    ],
    ['an occurrence out of order', { sites: [{ name: 'A', occurrence: 3 }] }, /occurrence must be 1/],
    [
      'an input that does not exist',
      { ...HOME, variables: [inS('v', { alias: 'x', mappingConfig: 'w' })] },
      /^\$\.variables\[0\]\.calculated the input "x" names a variable that neither .* has at this source: .*"w"$/,
    ],
    [
      'an input named by the name of two variables with identifiers',
      {
        ...HOME,
        variables: [
          ...['a', 'b'].map((one) => ({ ...inS(one), name: 'N' })),
          inS('v', { alias: 'x', variableName: 'N' }),
        ],
      },
      /"x" names a variable by the name "N", but every variable .*\(2 found\); set mappingConfig to the identifier of the variable$/,
    ],
    [
      'an input by id',
      { ...HOME, variables: [inS('v', { alias: 'x', variableId: 1 })] },
      /the input "x" must name a variable by mappingConfig or variableName, got the variableId 1/,
    ],
    [
      'a form of a source, named only by the site of the source',
      { ...HOME, variables: [{ ...inS('v'), calculated: { calculatedVariableFormulas: OF_SITE } }] },
      /^\$\.variables\[0\]\.calculated the form "f" names a site but no source; name the source too/,
    ],
    [
      'a formula that is not valid',
      { ...HOME, variables: [inS('w'), inS('v', { alias: '1x', mappingConfig: 'w' })] },
      /^\$\.variables\[1\]\.calculated\.calculatedVariableFormulas\[0\]\.variables\[0\]\.alias must be an R name/,
    ],
    [
      'a cycle of formulas',
      {
        ...HOME,
        variables: [inS('v', { alias: 'x', mappingConfig: 'w' }), inS('w', { alias: 'x', mappingConfig: 'v' })],
      },
      /would form a cycle: \$\.variables\[\d\] -> \$\.variables\[\d\] -> \$\.variables\[\d\]/,
    ],
    [
      'two default variables of a source',
      { ...HOME, variables: ['v', 'w'].map((one) => ({ ...inS(one), isDefault: true })) },
      /^\$\.variables\[0\] isDefault can be true for only one .*; \$\.variables\[1\] also sets isDefault/,
    ],
    [
      'a default variable of a source that has another default variable',
      { variables: [{ ...inS('w'), isDefault: true }] },
      /^\$\.variables\[0\] isDefault can be true for only one .*; variable \d+ already is the default of this source: set its isDefault/,
      { ...HOME, variables: [{ ...inS('v'), isDefault: true }] },
    ],
  ])('is refused for %s (R-A5, R-H1)', async (_what, document, rule, prepare) => {
    expect((await problemsOf(document, prepare))[0]).toMatch(rule);
  });

  test('has a result that lists 1,000 of the 1,200 problems, but counts all of them in `problemCount` (R-A5)', async () => {
    const name = (_: unknown, index: number) => `${index}`;
    const sites = Array.from({ length: 600 }, name).map((one) => ({ name: one, typeId: 'x' }));
    const sources = Array.from({ length: 600 }, name).map((one) => ({ siteName: 'nowhere', name: one }));
    const result = await stack.run(await stack.newAccount(), { sites, sources });
    expect([result.state, result.problemCount, result.problems.length]).toEqual(['Refused', 1200, 1000]);
  });
});

describe('structure import: a document with catalogue entries or form values', () => {
  test('can name units and types in any letter case; every name is looked up in the account that imports the document (R-C8)', async () => {
    const [from, to] = [await stack.newAccount(), await stack.newAccount()];
    const add = async (client: typeof from) => {
      const idOf = async (path: string, members: object) => (await client.post<Row>(path, members)).body.id as number;
      return {
        brewery: await idOf('/sitetypes', { name: 'Brewery' }),
        meter: await idOf('/sourceTypes', { name: 'Flow meter' }),
        crate: await idOf('/units', { name: 'crate, 24', unitFamilyId: 2, divisor: 0.5 }),
      };
    };
    const own = await add(from);
    const input = { alias: 'a', mappingConfig: 'in', unitId: 'CRATE, 24' };
    const document = {
      sites: [{ name: 'S', typeId: 'brewery' }],
      sources: [{ siteName: 'S', name: 'M', sourceTypeId: 'Flow Meter', energyTypeId: 1 }],
      variables: [
        { siteName: 'S', sourceName: 'M', mappingConfig: 'in', unitId: 'Crate, 24' },
        { siteName: 'S', sourceName: 'M', mappingConfig: 'out', unitId: 8, calculated: calculated(input) },
      ],
    };
    expect(await stack.run(from, document)).toMatchObject({ state: 'Completed', problems: [] });
    expect((await from.get('/sites')).body).toMatchObject([{ typeId: own.brewery }]);
    expect((await from.get('/variables')).body).toMatchObject([{ unitId: own.crate }, { unitId: 8 }]);
    expect(await stack.run(from, document)).toMatchObject({ counts: { variables: { changed: 0, left: 2 } } });

    const text = await stack.text(from);
    expect(text).toContain('"unitId":"crate, 24"');
    expect(text).not.toContain(String(own.crate));
    const { catalogues: _catalogues, ...bare } = JSON.parse(text);
    const refused = await stack.run(to, bare);
    expect(refused.problems.map(({ path, message }) => `${path} ${message}`)).toEqual([
      '$.sites[0].typeId must be an id, or the name of an entry of GET /sitetypes or of the document, got "Brewery"; correct the name or add the entry',
      '$.sources[0].sourceTypeId must be an id, or the name of an entry of GET /sourceTypes or of the document, got "Flow meter"; correct the name or add the entry',
      '$.variables[0].unitId must be an id, or the name of an entry of GET /units or of the document, got "crate, 24"; correct the name or add the entry',
    ]);
    const theirs = await add(to);
    expect(theirs.brewery).not.toBe(own.brewery);
    expect(await stack.run(to, text)).toMatchObject({ state: 'Completed', problems: [] });
    expect((await to.get('/sites')).body).toMatchObject([{ typeId: theirs.brewery }]);
    expect(await stack.text(to)).toBe(text);
    expect(await stack.run(to, await stack.workbook(from))).toMatchObject({
      ...{ problems: [], state: 'Completed' },
      counts: { sites: { left: 1 }, sources: { left: 1 }, variables: { left: 2 } },
    });
    const unknown = calculated({ alias: 'a', mappingConfig: 'in', unitId: 'barrel' });
    const broken = await stack.run(to, {
      variables: [{ siteName: 'S', sourceName: 'M', mappingConfig: 'out', calculated: unknown }],
    });
    expect(broken.problems).toMatchObject([
      { message: expect.stringContaining('the input "a": unitId must be an id, or the name') },
    ]);
  });

  test('the import creates the catalogue entries that the account lacks (R-C8, R-H1)', async () => {
    const [from, to] = [await stack.newAccount(), await stack.newAccount()];
    const catalogues = [
      { catalogue: 'Unit', name: 'Barrel', unitFamily: 'Containers', symbol: 'bbl', divisor: 0.0069, offset: -1.5 },
      { catalogue: 'UnitFamily', name: 'containers' },
      { catalogue: 'Unit', name: 'Cask', unitFamily: 'Volume' },
      { catalogue: 'VariableType', name: 'Peak flow rate', aggregate: 'MAX' },
      ...['SiteType', 'SourceType', 'EnergyType', 'EnergyUsage', 'Feature'].map((catalogue) => ({
        catalogue,
        name: 'X',
      })),
    ];
    const rest = {
      sites: [{ name: 'S', typeId: 'x' }, { name: 'T' }],
      sources: [{ siteName: 'S', name: 'M', energyTypeId: 'X' }],
      variables: [
        { siteName: 'S', sourceName: 'M', mappingConfig: 'v', unitId: 'barrel', variableTypeId: 'PEAK flow rate' },
      ],
    };
    const whatIf = await stack.run(from, { catalogues, ...rest }, { whatIf: true });
    expect(whatIf).toMatchObject({ state: 'Completed', problems: [], counts: { catalogues: { created: 9 } } });
    expect((await stack.rows(from, whatIf.id, '?kind=catalogues'))[0]).toEqual({
      ...{ kind: 'catalogues', place: '$.catalogues[0]', action: 'Created', id: null },
    });
    expect(JSON.parse(await stack.text(from)).catalogues).toEqual([]);

    expect(await stack.run(from, { catalogues, ...rest })).toMatchObject({ state: 'Completed', problems: [] });
    const text = await stack.text(from);
    expect(JSON.parse(text).catalogues).toEqual([
      { catalogue: 'UnitFamily', name: 'containers' },
      { catalogue: 'Unit', name: 'Barrel', symbol: 'bbl', unitFamily: 'containers', divisor: 0.0069, offset: -1.5 },
      { catalogue: 'Unit', name: 'Cask', symbol: '', unitFamily: 'Volume', divisor: 1, offset: 0 },
      ...['SiteType', 'SourceType', 'EnergyType', 'EnergyUsage'].map((catalogue) => ({ catalogue, name: 'X' })),
      { catalogue: 'VariableType', name: 'Peak flow rate', aggregate: 'MAX' },
      { catalogue: 'Feature', name: 'X' },
    ]);
    const ofSite = async (name: string) => {
      const { body } = await from.get<readonly Row[]>(`/sites?customFilter=name='${name}'`);
      return JSON.parse(await stack.text(from, `?siteIds=${body[0]?.id}`)).catalogues.map((row: Row) => row.name);
    };
    expect(await ofSite('S')).toEqual(['containers', 'Barrel', 'X', 'X', 'Peak flow rate']);
    expect(await ofSite('T')).toEqual([]);
    expect(await stack.run(to, text)).toMatchObject({ state: 'Completed', problems: [] });
    expect(await stack.text(to)).toBe(text);
    const workbook = await stack.run(to, await stack.workbook(from));
    expect(workbook).toMatchObject({ problems: [], counts: { catalogues: { created: 0, changed: 0, left: 9 } } });

    const changed = await stack.run(to, { catalogues: [{ catalogue: 'Unit', name: 'BARREL', symbol: 'b' }] });
    expect(await stack.rows(to, changed.id)).toMatchObject([
      { action: 'Changed', changes: { symbol: { from: 'bbl', to: 'b' } } },
    ]);
    const refused = await stack.run(to, {
      catalogues: [
        { catalogue: 'Unit', name: 'Barrel', divisor: 2 },
        { catalogue: 'Unit', name: 'New' },
        { catalogue: 'Unit', name: 'Newer', unitFamily: 'Nowhere' },
        { catalogue: 'Feature', name: 'Y' },
        { catalogue: 'Feature', name: 'y' },
        { catalogue: 'SiteType', name: 'Z', divisor: 2 },
        { catalogue: 'Units', name: 'Z' },
        { catalogue: 'Unit', name: 'Cask', unitFamily: 'containers' },
      ],
    });
    expect(refused.state).toBe('Refused');
    const rules = refused.problems.map(({ path, message }) => `${path} ${message.slice(0, 45)}`);
    expect(rules.toSorted()).toEqual(
      [
        '$.catalogues[0].divisor must be 0.0069 as in the existing unit, got 2',
        '$.catalogues[1].unitFamily is required, because the account',
        '$.catalogues[2].unitFamily must be the name of a built-in unit family',
        '$.catalogues[4].name must be unique in the catalogue, ignoring',
        '$.catalogues[5].divisor must be absent: entries of SiteType have no',
        '$.catalogues[6].catalogue must be one of UnitFamily, Unit, SiteType, ',
        '$.catalogues[7].unitFamily must be "Volume" as in the existing unit, got',
      ].map((rule) => expect.stringContaining(rule.slice(0, 65))),
    );
  });

  test('is checked against the forms of the account; values stored before a form was created stay valid (R-C11)', async () => {
    const manager = await stack.newAccount();
    const stored = { name: 'Old', clientData: { Building: { Main: { Area: 'large' } } } };
    await manager.post('/sites', stored);
    const fields = [{ name: 'Area', type: 'Double', minimum: 0 }];
    await manager.post('/form', { name: 'Building', groups: [{ name: 'Main', fields }] });
    const bad = { name: 'New', clientData: { Building: { Main: { Area: -1 } } } };
    const refused = await stack.run(manager, { sites: [stored, bad] });
    const problems = [{ path: '$.sites[1].clientData.Building.Main.Area', message: 'must be at least 0, got -1' }];
    expect(refused).toMatchObject({ state: 'Refused', problems });
    const kept = { ...stored, city: 'Ghent', clientData: { ...stored.clientData, more: 1 } };
    expect(await stack.run(manager, { sites: [kept] })).toMatchObject({ state: 'Completed', problems: [] });
  });
});

describe('structure import: a document that cannot be read', () => {
  test('makes the import fail, and the import states the reason (R-A5)', async () => {
    const failures = async (text: string) => (await stack.run(stack.api.manager, text)).failure;
    const cut = await failures('{"sites":[{"name":"A"}');
    expect(cut).toMatchObject({ code: 'malformed_document', message: expect.stringMatching(/see byte 22 of the/) });
    expect(await failures('{"sites":[{"name":"A"} {}]}')).toMatchObject({ code: 'malformed_document' });
    expect(await failures('{"sites":{}}')).toMatchObject({
      code: 'malformed_document',
      message: 'sites must be a list of rows',
    });
    expect(await failures('{"format":"other-1"}')).toMatchObject({ code: 'wrong_format' });
  });
});

describe('structure import: an import', () => {
  test('is refused when a USER sends it or when its media type is unknown, and is not visible to other accounts (R-B8, R-A4, R-A5)', async () => {
    const { manager, stranger } = stack.api;
    const user = await stack.api.signIn('una', 'USER');
    expect((await user.post('/structure/import', BAKERY)).status).toBe(403);
    const csv = { raw: 'a,b', headers: { 'content-type': 'text/csv' } };
    expect((await manager.send('POST', '/structure/import', undefined, csv)).status).toBe(415);
    const id = await stack.send(manager, {});
    expect((await stranger.get(`/structure/import/${id}`)).status).toBe(404);
    expect((await stranger.get(`/structure/import/${id}/rows`)).status).toBe(404);
    expect((await manager.get('/structure/import/x')).status).toBe(404);
    await stack.ended(manager, id);
  });

  test('has a stream of server-sent events that ends with the event `end` and the state Completed (R-E1)', async () => {
    const manager = await stack.newAccount();
    const id = await stack.send(manager, BAKERY);
    const headers = { authorization: `Bearer ${manager.token}` };
    const response = await fetch(`${stack.api.origin}/structure/import/${id}/events`, { headers });
    const events = (await response.text()).split('\n\n').filter((event) => event.startsWith('event:'));
    expect(events.at(-1)).toMatch(/^event: end\ndata: .*"state":"Completed"/);
  });

  test('changes nothing in other accounts, and keeps every site of its own account that the document does not name (R-A5)', async () => {
    const manager = await stack.newAccount();
    await createStructure(manager);
    const { stranger } = stack.api;
    const theirs = [{ name: 'Bakery', city: 'Lyon' }];
    await stack.run(stranger, { sites: theirs });
    const other = await stack.text(stranger);
    expect(await stack.run(manager, BAKERY)).toMatchObject({ counts: { sites: { created: 2 } } });
    expect(await stack.text(stranger)).toBe(other);
    expect(JSON.parse(other).sites).toMatchObject(theirs);
    expect(JSON.parse(await stack.text(manager)).sites).toMatchObject([
      { name: 'Mill' },
      { name: 'Bakery' },
      { name: 'Depot' },
    ]);
  });
});
