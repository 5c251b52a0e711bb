/**
 * Sends the requests with which shipped Python clients copy the sources and variables of a site (R-C12, R-H1). Also
 * replays recorded requests of three clients.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRecording, replay } from '../support/clients/recordings.ts';
import { eventually } from '../support/eventually.ts';
import { CLIENT, PASSWORD } from '../support/fixtures/accounts.ts';
import { type ApiClient, MANAGER, signIn } from '../support/fixtures/sign-in.ts';
import { createSite, createSource, createVariable } from '../support/fixtures/structure.ts';
import { createWorld, type World } from '../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../support/services/role-process.ts';
import { testRRoot } from '../support/services/stack.ts';

interface Item extends Readonly<Record<string, unknown>> {
  readonly id: number;
  readonly mappingConfig: string;
  readonly serialNumber: string;
  readonly calculated?: { readonly calculatedVariableFormulas: readonly Formula[] };
}
interface Formula {
  readonly variables: readonly Member[];
  readonly entities: readonly Member[];
}
type Member = Readonly<Record<string, unknown>> & { readonly siteId: number; readonly sourceId: number | null };

const RAW = ['import', 'export', 'reactive', 'voltage'];
const SUM = `
  scale <- inputConstants$scale * as.numeric(inputForms$factor)
  a <- inputVariables$own$TimeSeries
  b <- inputVariables$other$TimeSeries
  list(TimeSeries = data.frame(Dates = a$Dates, Values = scale * (a$Values + b$Values)))`;
const DOUBLE =
  'list(TimeSeries = data.frame(Dates = inputVariables$own$TimeSeries$Dates, Values = 2 * inputVariables$own$TimeSeries$Values))';

let world: World;
let roles: RoleProcess;
let api: ApiClient;
let templateId: number;

beforeAll(async () => {
  world = await createWorld();
  roles = await startRoles(['api', 'ingester', 'calculator'], { ...world.environment, R_ROOT: testRRoot() });
  api = await signIn(roles.http);
  templateId = await createTemplate();
}, 60_000);
afterAll(async () => {
  await roles?.kill('SIGTERM');
  await world?.close();
});

const input = (alias: string, variableId: number) => ({
  ...{ alias, variableId, periodType: 1, period: 1, periodTimeBase: 3, canBeUsedAsATrigger: true },
});

/**
 * Creates a site with two sources, each with four raw variables and a calculated one. The first calculated variable
 * reads from both sources, and the second doubles the first.
 */
async function createTemplate(): Promise<number> {
  const siteId = await createSite(api, { timeZoneId: 'Europe/Brussels', clientData: { Form: { Factor: 10 } } });
  const [main, sub] = await Promise.all(
    ['MAIN', 'SUB'].map((serialNumber) =>
      createSource(api, siteId, {
        ...{ serialNumber, name: serialNumber, energyTypeId: 2, timeZoneId: 'Europe/Lisbon' },
        ...{ tags: ['metered'], clientData: { Panel: { Floor: 3 } } },
      }),
    ),
  );
  const raw = async (sourceId = 0) =>
    Object.fromEntries(
      await Promise.all(
        RAW.map(async (mappingConfig) => [mappingConfig, await createVariable(api, sourceId, { mappingConfig })]),
      ),
    ) as Record<string, number>;
  const [ofMain, ofSub] = [await raw(main), await raw(sub)];
  const totalId = await createVariable(api, main ?? 0, {
    mappingConfig: 'total',
    calculated: {
      friendlyName: 'total',
      calculatedVariableFormulas: [
        {
          formula: SUM,
          variables: [input('own', ofMain.import ?? 0), input('other', ofSub.import ?? 0)],
          entities: [{ alias: 'factor', entityType: 1, siteId, path: 'Form.Factor' }],
          constants: [{ alias: 'scale', value: 1 }],
        },
      ],
    },
  });
  await createVariable(api, sub ?? 0, {
    mappingConfig: 'double',
    calculated: { calculatedVariableFormulas: [{ formula: DOUBLE, variables: [input('own', totalId)] }] },
  });
  return siteId;
}

const sourcesOf = (siteId: number) => api.call<Item[]>('GET', `/sources?siteId=${siteId}&displayLevel=Site`);
const variablesOf = (sourceId: number) =>
  api.call<Item[]>('GET', `/variables?sourceId=${sourceId}&displayLevel=Verbose`);

/**
 * Copies the sources and variables of the template site to the site `targetId`.
 * @param renew rewrites the references in a formula, as one of the shipped clients does.
 */
async function duplicate(targetId: number, renew: typeof renewEach): Promise<void> {
  const copies = new Map<number, Item>();
  const sourceIds = new Map<number, number>();
  const later: { readonly template: Item; readonly sourceId: number }[] = [];
  for (const source of await sourcesOf(templateId)) {
    const { id, siteName, ...members } = source;
    expect(siteName, 'the clients remove it').toBeDefined();
    const copy = await api.call<Item>('POST', '/sources', { ...members, siteId: targetId });
    sourceIds.set(id, copy.id);
    for (const variable of await variablesOf(id)) {
      const { id: templateVariableId, ...written } = variable;
      const isCalculated = 'calculated' in variable;
      const calculated = { ...variable.calculated, calculatedVariableFormulas: [{}] };
      const body = { ...written, sourceId: copy.id, ...(isCalculated && { calculated }) };
      copies.set(templateVariableId, await api.call<Item>('POST', `/variables/source/${copy.id}`, body));
      if (isCalculated) later.push({ template: variable, sourceId: copy.id });
    }
  }
  for (const { template, sourceId } of later) {
    const { id } = copies.get(template.id) as Item;
    const formulas = template.calculated?.calculatedVariableFormulas ?? [];
    const renewed = formulas.map((formula) => renew(formula, targetId, copies, sourceIds));
    const calculated = { ...template.calculated, calculatedVariableFormulas: renewed };
    await api.call('PUT', `/sources/${sourceId}/variables/${id}`, { ...template, id, sourceId, calculated });
  }
}

type Copies = ReadonlyMap<number, Item>;

function renewInput(variable: Member, siteId: number, copies: Copies, sourceIds: ReadonlyMap<number, number>): Member {
  if (variable.siteId !== templateId) throw new Error(`siteId of an input is ${variable.siteId}`);
  const copy = copies.get(variable.variableId as number);
  return { ...variable, siteId, sourceId: sourceIds.get(variable.sourceId ?? 0) ?? null, variableId: copy?.id };
}

/** Changes the references of a formula the way the newer client does: every entity refers to the new site. */
function renewEach(formula: Formula, siteId: number, copies: Copies, sourceIds: ReadonlyMap<number, number>): Formula {
  return {
    ...formula,
    variables: formula.variables.map((variable) => renewInput(variable, siteId, copies, sourceIds)),
    entities: formula.entities.map((entity) => {
      if (entity.siteId !== templateId || entity.entityType !== 1) throw new Error('not a form of the template site');
      return { ...entity, siteId, entityId: siteId };
    }),
  };
}

/**
 * Changes the references of a formula as the older client does: all entities of the formula refer to the copy of the
 * source from which the last input of the formula reads.
 */
function renewAlike(formula: Formula, siteId: number, copies: Copies, sourceIds: ReadonlyMap<number, number>): Formula {
  const variables = formula.variables.map((variable) => renewInput(variable, siteId, copies, sourceIds));
  const sourceId = variables.at(-1)?.sourceId ?? null;
  return {
    ...formula,
    variables,
    entities: formula.entities.map((entity) => ({ ...entity, siteId, sourceId, entityId: sourceId })),
  };
}

async function contentOf(siteId: number) {
  const sources = await sourcesOf(siteId);
  const variables = await Promise.all(sources.map(({ id }) => variablesOf(id)));
  return { sources, variables: variables.flat() };
}

const withoutIds = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (name, member) =>
      /^(id|siteId|sourceId|variableId|entityId)$/.test(name) ? undefined : member,
    ),
  );

describe('shipped clients: a duplicator', () => {
  test.each([
    ['the new site', renewEach],
    ['a new source', renewAlike],
  ] as const)(
    'copies sources and variables; formulas whose `entities` refer to %s give the right values (R-C12, R-H1)',
    async (_how, renew) => {
      const targetId = await createSite(api, { timeZoneId: 'Europe/Brussels', clientData: { Form: { Factor: 100 } } });
      await duplicate(targetId, renew);
      const [template, copy] = [await contentOf(templateId), await contentOf(targetId)];
      expect(copy.variables).toHaveLength(10);
      expect(withoutIds(copy)).toEqual(withoutIds(template));
      const ids = Object.fromEntries(copy.variables.map(({ mappingConfig, id }) => [mappingConfig, id]));
      const imports = copy.variables.filter(({ mappingConfig }) => mappingConfig === 'import');
      const data = [{ date: '2026-03-01T00:00:00Z', value: 1.5 }];
      await api.call(
        'POST',
        '/api/data',
        imports.map(({ id }) => ({ variableId: id, data })),
      );
      const values = await eventually('the values of both calculated copies', async () => {
        const rows = await api.call<{ rawValue: number }[]>('GET', `/data?variableIds=${ids.total},${ids.double}`);
        return rows.length === 2 && rows.map(({ rawValue }) => rawValue);
      });
      expect(values).toEqual([300, 600]);
    },
  );
});

describe('shipped clients: the recorded requests', () => {
  test.concurrent.each(['datahub-api-connector', 'opinum-api-connector', 'opisense-client'])(
    'each request of %s gets an answer that this client can use (R-A3, R-A6, R-B3, R-B4, R-C12, R-D1, R-E1)',
    async (name) => {
      const { clientId, secret } = CLIENT;
      const basic = Buffer.from(`${clientId}:${secret}`).toString('base64');
      const given = { username: MANAGER, password: PASSWORD, clientId, clientSecret: secret, basic };
      await replay(readRecording(name), roles.http, new Map(Object.entries(given)));
    },
  );
});
