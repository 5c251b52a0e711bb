/**
 * hardDelete=true deletes small structures immediately, and large structures in jobs. When the process that runs a job
 * is killed, another process continues the job (R-C7, R-K3).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { continueDeletion } from '../../../src/structure/deletion/deletions.ts';
import { eventually } from '../../support/eventually.ts';
import { type ApiClient, signIn } from '../../support/fixtures/sign-in.ts';
import { createSite, createSource, createStructure } from '../../support/fixtures/structure.ts';
import { createStoredWorld, type StoredWorld } from '../../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../../support/services/role-process.ts';
import { BEGIN_HOLDING } from '../../support/services/stack.ts';

interface Job {
  readonly id: string;
  readonly state: string;
  readonly variables: { readonly total: number; readonly deleted: number };
  readonly pointsPending: number;
}

let world: StoredWorld;
let environment: Readonly<Record<string, string>>;
let front: RoleProcess;
let api: ApiClient;
const workers: RoleProcess[] = [];
beforeAll(async () => {
  world = await createStoredWorld();
  environment = { ...world.environment, SWEEP_INTERVAL_MS: '100' };
  front = await startRoles(['api'], environment);
  api = await signIn(front.http);
}, 30_000);
afterAll(async () => {
  await Promise.all([front, ...workers].map((process) => process?.kill()));
  await world?.close();
});

async function startIngester(): Promise<RoleProcess> {
  const process = await startRoles(['ingester'], environment);
  workers.push(process);
  return process;
}

/** Creates a site with the given number of variables in each source. */
async function createSiteWith(sourceNames: readonly string[], variablesOfEach: number): Promise<number> {
  const siteId = await createSite(api);
  for (const name of sourceNames) await createSource(api, siteId, { name });
  await world.database.query(
    `insert into variable (account_id, source_id, name)
     select account_id, id, 'Variable ' || number from source, generate_series(1, $2) number where site_id = $1`,
    [siteId, variablesOfEach],
  );
  return siteId;
}

/** Creates a site with three sources and 600 variables. */
const createLargeSite = () => createSiteWith(['a', 'b', 'c'], 200);
const countOf = async (siteId: number) => {
  const { rows } = await world.database.query<{ count: number }>(
    `select count(*) as count from variable join source on source.id = source_id where site_id = $1`,
    [siteId],
  );
  return rows[0]?.count;
};
const jobOf = async (location: string | null) => (await api.get<Job>(location ?? '')).body;
const completed = (location: string | null) =>
  eventually('the end of the deletion', async () => {
    const job = await jobOf(location);
    return job.state === 'Completed' ? job : undefined;
  });

describe('deletion with `hardDelete` (R-C7)', () => {
  it('a deletion of more than 500 sources and variables gets 202 with a job; when its process is killed, another process continues the job (R-K3)', async () => {
    const siteId = await createLargeSite();
    const answer = await api.send<Job>('DELETE', `/sites/${siteId}?hardDelete=true`);
    const location = answer.headers.get('location');
    expect(answer).toMatchObject({
      status: 202,
      body: {
        ...{ kind: 'Site', targetId: siteId, targetName: 'Mill', state: 'Running', pointsPending: 0 },
        variables: { total: 600, deleted: 0 },
      },
    });
    expect(location).toBe(`/deletions/${answer.body.id}`);
    const again = await api.send<Job>('DELETE', `/sites/${siteId}?hardDelete=true`);
    expect(again).toMatchObject({ status: 202, body: { id: answer.body.id } });
    // This lock blocks a later step of the deletion, so that the deletion is incomplete when its process is killed.
    const holder = await world.database.connect();
    await holder.query(BEGIN_HOLDING);
    await holder.query(
      `select from variable where id = (
         select max(variable.id) from variable join source on source.id = source_id where site_id = $1) for update`,
      [siteId],
    );
    const victim = await startIngester();
    await eventually('the first step', async () => (await jobOf(location)).variables.deleted > 0);
    await victim.kill();
    const left = await countOf(siteId);
    expect(left).toBeGreaterThan(0);
    expect((await jobOf(location)).variables.deleted).toBe(600 - (left ?? 0));
    await holder.query('rollback');
    holder.release();
    await startIngester();
    expect(await completed(location)).toMatchObject({ variables: { total: 600, deleted: 600 }, pointsPending: 0 });
    expect((await api.get(`/sites/${siteId}`)).status).toBe(404);
    const audited = await world.database.query<{ action: string }>(
      `select action from audit_entry where action like '%Deleted' and target_id = $1`,
      [String(siteId)],
    );
    expect(audited.rows).toEqual([{ action: 'SiteDeleted' }]);
    for (const [variables, status] of [
      [499, 204],
      [500, 202],
    ] as const) {
      const id = await createSiteWith(['a'], variables);
      const { status: given } = await api.send('DELETE', `/sites/${id}?hardDelete=true`);
      expect([variables, given]).toEqual([variables, status]);
    }
    await eventually('the end of the last deletion, except for the purges of points', async () => {
      return (await world.database.query('select from deletion where structure_deleted_date is null')).rowCount === 0;
    });
  }, 30_000);

  it('the deletions of different accounts take turns, one step each (R-A14)', async () => {
    const { database } = world;
    await Promise.all(workers.splice(0).map((worker) => worker.kill()));
    const greedy = [await createLargeSite(), await createLargeSite(), await createLargeSite()];
    const other = await world.addAccount('Other');
    const moved = await createLargeSite();
    await database.query('update site set account_id = $2 where id = $1', [moved, other]);
    await database.query('update source set account_id = $2 where site_id = $1', [moved, other]);
    await database.query(
      'update variable set account_id = $2 from source where source.id = source_id and source.site_id = $1',
      [moved, other],
    );
    for (const [siteId, accountId] of [...greedy.map((id) => [id, world.accountId]), [moved, other]] as const) {
      await database.query(
        `insert into deletion (account_id, kind, target_id, target_name, user_name, variable_count)
         values ($1, 'Site', $2, 'Mill', 'max', 600)`,
        [accountId, siteId],
      );
    }
    let steps = 0;
    const isGone = async () => (await database.query('select from site where id = $1', [moved])).rowCount === 0;
    for (; !(await isGone()); steps += 1) expect(await continueDeletion(database)).toBe(true);
    // The other account takes every second step and needs four steps: two for its variables, one for its sources, one
    // for its site.
    expect(steps).toBeLessThanOrEqual(9);
    while (await continueDeletion(database));
    expect((await database.query('select from site where id = any($1)', [greedy])).rowCount).toBe(0);
    // Removes the purges that these deletions requested, so that the tests below wait only for their own purges.
    await database.query('truncate point_purge');
    await startIngester();
  });

  it('the error of a failed step names the deletion, and the step is tried again until it succeeds (R-K3)', async () => {
    const { database } = world;
    await Promise.all(workers.splice(0).map((worker) => worker.kill()));
    const siteId = await createLargeSite();
    const { body, headers } = await api.send<Job>('DELETE', `/sites/${siteId}?hardDelete=true`);
    await database.query(
      `create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`,
    );
    await database.query('create trigger refuse before delete on variable execute function refuse()');
    await expect(continueDeletion(database)).rejects.toMatchObject({
      message: `a step of the deletion ${body.id} of Site ${siteId} failed; the step will be retried`,
      cause: { message: 'refused' },
    });
    await database.query('drop function refuse cascade');
    await startIngester();
    expect(await completed(headers.get('location'))).toMatchObject({ variables: { total: 600, deleted: 600 } });
  });

  it('a site with one variable is deleted immediately with 204; the header `Location` names the job that removes the points', async () => {
    const { siteId, variableId } = await createStructure(api);
    await api.call('POST', '/api/data', [{ variableId, data: [{ date: '2026-03-01T00:00:00Z', value: 1 }] }]);
    await startIngester();
    await eventually('the point', async () => (await api.call<unknown[]>('GET', `/data?variableId=${variableId}`))[0]);
    const answer = await api.send('DELETE', `/sites/${siteId}?hardDelete=true`);
    expect([answer.status, answer.body]).toEqual([204, undefined]);
    expect((await api.get(`/variables/${variableId}`)).status).toBe(404);
    expect(await completed(answer.headers.get('location'))).toMatchObject({ variables: { total: 1, deleted: 1 } });
    const { rows } = await world.database.query('select from point where variable_id = $1', [variableId]);
    expect(rows).toEqual([]);
  });

  it('a variable, or a source without variables, is deleted before the answer is sent; the header `Location` names the job that records the deletion', async () => {
    const { sourceId, variableId } = await createStructure(api);
    for (const [path, kind] of [
      [`/sources/${sourceId}/variables/${variableId}`, 'Variable'],
      [`/sources/${sourceId}`, 'Source'],
    ]) {
      const { status, headers } = await api.send('DELETE', `${path}?hardDelete=true`);
      expect([status, await jobOf(headers.get('location'))]).toMatchObject([
        204,
        { kind, targetName: expect.any(String) },
      ]);
    }
    expect((await api.get(`/variables/${variableId}`)).status).toBe(404);
    expect((await api.get(`/sources/${sourceId}`)).status).toBe(404);
  });

  it('other accounts cannot read the job of a deletion: they get 404, as for an unknown id (R-A5)', async () => {
    for (const id of ['x', '00000000-0000-4000-8000-000000000000'])
      expect((await api.get(`/deletions/${id}`)).status).toBe(404);
    const { siteId } = await createStructure(api);
    const location = (await api.send('DELETE', `/sites/${siteId}?hardDelete=true`)).headers.get('location');
    await world.database.query(`update deletion set account_id = account_id + 1 where id::text = $1`, [
      location?.split('/').at(-1),
    ]);
    expect((await api.get(location ?? '')).status).toBe(404);
  });
});
