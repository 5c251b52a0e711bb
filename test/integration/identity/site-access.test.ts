/**
 * Access of a USER to a site, or to some of its sources, at a level (R-B9, R-C3): what the access allows, and how it is
 * granted.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGrpcReader } from '../../support/clients/grpc-client.ts';
import { createTestClient, type TestClient } from '../../support/clients/test-client.ts';
import { linkIn, type Mailbox, openMailbox } from '../../support/doubles/mailbox.ts';
import { userIdOf } from '../../support/fixtures/people.ts';
import { createSite, createSource, createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

type Body = Readonly<Record<string, unknown>>;
type Listed = readonly { readonly id: number }[];

let api: TestApi;
let mailbox: Mailbox;
let user: TestClient;
let userId: string;
let siteId: number;
/** Two sources of one site; most tests give `user` access to the first source only. */
let sources: readonly [number, number];
let variables: readonly [number, number];
beforeAll(async () => {
  mailbox = await openMailbox();
  api = await startTestApi({ SMTP_URL: mailbox.url });
  user = await api.signIn('una', 'USER');
  userId = await userIdOf(api, 'una');
  siteId = await createSite(api.manager);
  sources = [await createSource(api.manager, siteId), await createSource(api.manager, siteId)];
  variables = [await createVariable(api.manager, sources[0]), await createVariable(api.manager, sources[1])];
  await createStructure(api.manager);
});
afterAll(async () => {
  await api.close();
  await mailbox.close();
});

const grant = (...sites: readonly Body[]) => api.manager.post(`/account/user/${userId}/sites`, sites);
const idsOf = async (path: string) => (await user.get<Listed>(path)).body.map(({ id }) => id);
/**
 * Inserts a run of the granted variable. The inputs of the run are the granted variable, the hidden variable and a
 * form.
 * @returns the id of the run.
 */
async function addRun(): Promise<number> {
  const [granted, hidden] = variables;
  const date = '2026-01-01T00:00:00Z';
  const input = { formula: 0, from: date, to: date, points: 3, lastVersionTimestamp: date };
  const inputs = [
    { ...input, alias: 'a', variableId: granted },
    { ...input, alias: 'b', variableId: hidden },
  ];
  const formula = { formula: 0, from: date, to: date, triggerDate: date, forms: [{ alias: 'f', value: 'SECRET' }] };
  const { rows } = await api.database.query<{ id: number }>(
    `insert into calculation_run (variable_id, account_id, state, outcome, trigger, from_date, to_date, trigger_date, wave, attempt,
       default_version, requested_date, started_date, finished_date, inputs, formulas, ancestors, notes)
     values ($1, $2, 'Succeeded', 'Stored', 'Input', $3, $3, $3, 1, 0, '', $3, $3, $3, $4, $5, $6, $7) returning id`,
    [
      ...[granted, api.accountId, date, JSON.stringify(inputs), JSON.stringify([formula]), [hidden]],
      JSON.stringify({ messages: [], warnings: [], output: 'SECRET' }),
    ],
  );
  return rows[0]?.id ?? 0;
}

const push = async (level?: string) => {
  if (level !== undefined) await grant({ siteId, level, sourceIds: [sources[0]] });
  const body = variables.map((variableId) => ({ variableId, data: [{ date: '2026-01-01T00:00:00Z', value: 1 }] }));
  return (await user.post<{ rejected: readonly Body[]; accepted: Body }>('/api/data', body)).body;
};

describe('identity: access to some sources of a site', () => {
  beforeAll(async () => {
    expect((await grant({ siteId, level: 'Read', sourceIds: [sources[0]] })).status).toBe(200);
  });

  it('shows the site and these sources with their variables in lists, details and counts (R-B9, R-C1)', async () => {
    expect(await idsOf('/sites')).toEqual([siteId]);
    expect(await idsOf('/sources')).toEqual([sources[0]]);
    expect(await idsOf('/variables')).toEqual([variables[0]]);
    expect((await user.get(`/sources/${sources[0]}`)).status).toBe(200);
    expect((await user.get(`/sources/${sources[1]}`)).status).toBe(404);
    const counts = await user.get<Body>('/account?displayLevel=Verbose');
    expect(counts.body).toMatchObject({ siteCount: 1, sourceCount: 1, variableCount: 1 });
    const listed = await user.get('/variables', { 'x-total-count': 'true' });
    expect(listed.headers.get('x-total-count')).toBe('1');
  });

  it('allows reads of the data of these sources, but not of another source of the site, over REST and gRPC (R-B9, R-J2)', async () => {
    for (const [index, status] of [
      [0, 200],
      [1, 404],
    ] as const) {
      expect((await user.get(`/data?variableId=${variables[index]}`)).status).toBe(status);
      expect((await user.get(`/data?sourceId=${sources[index]}`)).status).toBe(status);
    }
    const reader = createGrpcReader(api.grpcAddress, user.token);
    try {
      await expect(reader.readPoints({ variableIds: [variables[0]] })).resolves.toBeDefined();
      expect(await reader.refusalOf({ variableIds: [variables[1]] })).toMatchObject({ reason: 'not_found' });
    } finally {
      reader.close();
    }
  });

  it('the user sees a run, but its form values, its notes, and inaccessible inputs and ancestors are hidden (R-B9, R-H8, R-J1)', async () => {
    const id = await addRun();
    const shown = {
      inputs: [{ variableId: variables[0], points: 3 }],
      formulas: [{ formula: 0, forms: [] }],
      ancestors: [],
      notes: {},
      outcome: 'Stored',
    };
    expect((await user.get(`/runs/${id}`)).body).toMatchObject(shown);
    expect((await user.get<readonly Body[]>(`/variables/${variables[0]}/runs`)).body).toMatchObject([shown]);
    expect((await api.manager.get<Body>(`/runs/${id}`)).body).toMatchObject({
      inputs: [{ variableId: variables[0] }, { variableId: variables[1] }],
      formulas: [{ forms: [{ value: 'SECRET' }] }],
      ancestors: [variables[1]],
      notes: { output: 'SECRET' },
    });
    const reader = createGrpcReader(api.grpcAddress, user.token);
    try {
      const runs = await reader.listRuns({ variableId: variables[0] });
      expect(runs).toMatchObject([{ inputs: [{ variableId: variables[0] }] }]);
      expect(JSON.stringify(runs)).not.toContain('SECRET');
    } finally {
      reader.close();
    }
  });

  it('a GET of the user returns the granted access; a POST of this answer changes nothing (R-C2, R-C3)', async () => {
    const whole = (await api.manager.get<Body>(`/account/user/${userId}`)).body;
    expect(whole.sites).toEqual([{ siteId, level: 'Read', sourceIds: [sources[0]] }]);
    expect((await api.manager.post(`/account/user/${userId}`, whole)).body).toEqual(whole);
  });

  it('cannot include a source outside the site; the error does not reveal whether the source exists (R-A5)', async () => {
    const elsewhere = await createStructure(api.manager);
    const foreign = await createStructure(api.stranger);
    for (const id of [elsewhere.sourceId, foreign.sourceId, 999_999]) {
      const answer = await grant({ siteId, level: 'Read', sourceIds: [id] });
      expect(answer).toMatchObject({
        status: 400,
        body: { message: `$[0].sourceIds[0] site ${siteId} has no source ${id}` },
      });
    }
  });

  it('ends for a source that moves to another site; an empty `sourceIds` gives access to the site but to no source (R-B9)', async () => {
    const other = await createSite(api.manager);
    const moving = await createSource(api.manager, siteId);
    await grant({ siteId, level: 'Read', sourceIds: [moving] });
    expect(await idsOf('/sources')).toEqual([moving]);
    await api.manager.put(`/sources/${moving}`, { name: 'Meter', siteId: other });
    expect(await idsOf('/sources')).toEqual([]);
    const whole = (await api.manager.get<Body>(`/account/user/${userId}`)).body;
    expect(whole.sites).toEqual([{ siteId, level: 'Read', sourceIds: [] }]);
    await api.manager.post(`/account/user/${userId}`, whole);
    expect(await idsOf('/sources')).toEqual([]);
    expect(await idsOf('/sites')).toEqual([siteId]);
  });

  it('a grant without sourceIds extends the access to all sources of the site (R-C3)', async () => {
    await grant({ siteId, level: 'Read' });
    expect(await idsOf('/sources')).toEqual([...sources]);
  });
});

describe('identity: the level of site access', () => {
  it.each(['Write', 'Admin'])('%s allows pushing to the granted sources (R-B9, R-C3)', async (level) => {
    expect(await push(level)).toMatchObject({
      accepted: { elements: 1 },
      rejected: [{ index: 1, code: 'target_not_found' }],
    });
  });

  it('immediately after a change from Write to Read, the user can read but not push (R-B9, R-C3)', async () => {
    await push('Write');
    const message = expect.stringContaining('requires Write access to the site');
    expect(await push('Read')).toMatchObject({
      accepted: { elements: 0 },
      rejected: [
        { index: 0, message },
        { index: 1, message },
      ],
    });
    expect((await user.get(`/data?variableId=${variables[0]}`)).status).toBe(200);
  });
});

describe('identity: the migration to levels of site access', () => {
  it('gives Write to a user who may push; a user who may not push keeps Read (R-B8, R-C3)', async () => {
    await api.signIn('reader', 'USER', { mayPush: false });
    const readerId = await userIdOf(api, 'reader');
    const levelsOf = async (id: string) => (await api.manager.get<Body>(`/account/user/${id}`)).body.sites;
    for (const id of [userId, readerId]) {
      await api.manager.post(`/account/user/${id}/sites`, [{ siteId, level: 'Read' }]);
    }
    const migration = new URL('../../../sql/migrations/0024_pushers_may_write.sql', import.meta.url);
    await api.database.query(await readFile(migration, 'utf8'));
    expect(await levelsOf(userId)).toMatchObject([{ siteId, level: 'Write' }]);
    expect(await levelsOf(readerId)).toMatchObject([{ siteId, level: 'Read' }]);
  });
});

describe('identity: an invitation to some sources', () => {
  it('grants the named sources that still belong to the site, and no source when all of them have moved to another site (R-B10, R-C3)', async () => {
    const [gone, elsewhere] = [await createSource(api.manager, siteId), await createSite(api.manager)];
    const invite = async (email: string, sourceIds: readonly number[]) => {
      await api.manager.post('/account/invitations', { email, sites: [{ siteId, level: 'Read', sourceIds }] });
      return new URL(linkIn(await mailbox.next(email))).searchParams.get('token');
    };
    const tokens = [
      await invite('some@north.example', [sources[0], gone]),
      await invite('none@north.example', [gone]),
    ] as const;
    await api.manager.put(`/sources/${gone}`, { name: 'Meter', siteId: elsewhere });
    for (const [token, sourceIds] of [
      [tokens[0], [sources[0]]],
      [tokens[1], []],
    ] as const) {
      const path = `/account/user/register?invitationToken=${token}`;
      const { body } = await createTestClient(api.origin).post<Body>(path, undefined);
      const info = await api.manager.get<Body>(`/account/user/${body.userId}`);
      expect(info.body.sites).toEqual([{ siteId, level: 'Read', sourceIds }]);
    }
  });
});
