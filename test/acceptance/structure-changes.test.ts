/**
 * A change of the structure through one process applies to pushes, files, calculations and reads of another process as
 * soon as the request for the change is answered (R-D2, R-B5). A change of access is an exception, because processes
 * cache the access of users: it applies in another process when a notification arrives or the cached access expires.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGrpcReader } from '../support/clients/grpc-client.ts';
import { eventually } from '../support/eventually.ts';
import { type ApiClient, signIn } from '../support/fixtures/sign-in.ts';
import { calculated, createSite, createSource, createVariable } from '../support/fixtures/structure.ts';
import { createWorld, type World } from '../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../support/services/role-process.ts';
import { testRRoot } from '../support/services/stack.ts';

/**
 * Maximum time until a process applies a change of access that was made through another process. The requirement is
 * 1 s; the rest is margin for a machine that runs many tests. Without a notification, the process would apply the
 * change only when its cached access expires, after 30 s.
 */
const NOTIFIED_MS = 5000;

let world: World;
let processes: readonly RoleProcess[];
/**
 * Two API clients of the same manager, each connected to a different process. `near` changes the structure, and `far`
 * must see the change.
 */
let near: ApiClient;
let far: ApiClient;
let grpcAddress: string;
let siteId: number;
beforeAll(async () => {
  world = await createWorld();
  // One issuer for both processes, so that each accepts the other's tokens.
  const addresses = {
    AUTH_URL: 'https://id.example.test',
    API_URL: 'https://api.example.test',
    R_ROOT: testRRoot(),
  };
  const environment = { ...world.environment, ...addresses };
  processes = await Promise.all([
    startRoles(['api'], environment),
    startRoles(['api', 'grpc', 'ingester', 'calculator'], environment),
  ]);
  const [here, there] = processes as readonly [RoleProcess, RoleProcess];
  near = await signIn(here.http);
  far = await signIn(there.http);
  grpcAddress = there.grpc;
  siteId = await createSite(near);
}, 60_000);
afterAll(async () => {
  await Promise.all((processes ?? []).map((one) => one.kill()));
  await world?.close();
});

interface Pushed {
  readonly accepted: { readonly elements: number };
  readonly rejected: readonly { readonly code: string }[];
}

let serial = 0;
/** Creates a source with a variable whose mapping config is `old`. */
async function createMapped() {
  serial += 1;
  const sourceSerialNumber = `S-${serial}`;
  const sourceId = await createSource(near, siteId, { serialNumber: sourceSerialNumber });
  const variableId = await createVariable(near, sourceId, { mappingConfig: 'old' });
  const change = (members: object) => near.call('PUT', `/sources/${sourceId}/variables/${variableId}`, members);
  const remove = () => near.call('DELETE', `/sources/${sourceId}/variables/${variableId}`);
  return { sourceSerialNumber, sourceId, variableId, change, remove };
}

let minute = 0;
const nextDate = () => new Date(Date.UTC(2026, 2, 1) + 60_000 * minute++).toISOString();

async function read(variableId: number, date: string): Promise<number> {
  return eventually(`the point of variable ${variableId} at ${date}`, async () => {
    const from = `&from=${date}&to=${date}&includeToBoundary=true`;
    const [row] = await far.call<{ rawValue: number }[]>('GET', `/data?variableId=${variableId}${from}`);
    return row?.rawValue;
  });
}

describe('structure: a change in one process, seen by another', () => {
  test.concurrent('the next push uses a new variable, a changed mappingConfig and a new divider, and no longer finds a deleted variable (R-D2)', async () => {
    const { sourceSerialNumber, sourceId, variableId, change, remove } = await createMapped();
    const push = async (mappingConfig: string, value = 1) => {
      const date = nextDate();
      const body = [{ sourceSerialNumber, mappingConfig, data: [{ date, value }] }];
      const { accepted, rejected } = await far.call<Pushed>('POST', '/api/data', body);
      return { date, outcome: accepted.elements === 1 ? 'accepted' : rejected[0]?.code };
    };
    // The second push finds the target in the cache of the process.
    for (let count = 0; count < 2; count += 1) expect((await push('old')).outcome).toBe('accepted');
    await change({ mappingConfig: 'renamed' });
    expect((await push('old')).outcome).toBe('target_not_found');
    expect((await push('renamed')).outcome).toBe('accepted');
    const second = await createVariable(near, sourceId, { mappingConfig: 'old' });
    const added = await push('old', 7);
    expect(await read(second, added.date)).toBe(7);
    await change({ divider: 10 });
    const divided = await push('renamed', 50);
    expect(await read(variableId, divided.date)).toBe(5);
    await remove();
    expect((await push('renamed')).outcome).toBe('target_not_found');
    expect((await push('old')).outcome).toBe('accepted');
  });

  test.concurrent('a changed `mappingConfig` or divider applies to the next uploaded file; the next file for a deleted variable is rejected (R-E3)', async () => {
    const { sourceSerialNumber, variableId, change, remove } = await createMapped();
    const upload = async (mappingConfig: string, value = 1) => {
      const date = nextDate();
      const row = `${sourceSerialNumber},${mappingConfig},${date},${value}\n`;
      const raw = `source_serialnumber,mapping_config,date,value\n${row}`;
      const options = { raw, headers: { 'content-type': 'text/csv' } };
      const id = await far.call<string>('POST', '/storage?filename=a.csv', undefined, options);
      const state = await eventually(`the end of file ${id}`, async () => {
        const { state: now } = await far.call<{ state: string }>('GET', `/storage/${id}`);
        return now !== 'Queued' && now !== 'Processing' && now;
      });
      return { date, state };
    };
    expect((await upload('old')).state).toBe('Completed');
    await change({ mappingConfig: 'renamed', divider: 4 });
    expect((await upload('old')).state).toBe('Rejected');
    const divided = await upload('renamed', 8);
    expect(await read(variableId, divided.date)).toBe(2);
    await remove();
    expect((await upload('renamed')).state).toBe('Rejected');
  });

  test.concurrent('after a formula is added or changed, the next run uses it (R-H1, R-H5)', async () => {
    const { sourceId, variableId } = await createMapped();
    const declare = (factor: number) =>
      calculated(
        `ts <- inputVariables$a$TimeSeries\nlist(TimeSeries = data.frame(Dates = ts$Dates, Values = ${factor} * ts$Values))`,
        [
          {
            ...{ alias: 'a', variableId, periodType: 'RelativeDate', period: 1, periodTimeBase: 'Hour' },
            canBeUsedAsATrigger: true,
          },
        ],
      );
    const computed = await createVariable(near, sourceId, { calculated: declare(2) });
    const push = async (value: number) => {
      const date = nextDate();
      await far.call('POST', '/api/data', [{ variableId, data: [{ date, value }] }]);
      return read(computed, date);
    };
    expect(await push(10)).toBe(20);
    await near.call('PUT', `/sources/${sourceId}/variables/${computed}`, { calculated: declare(3) });
    expect(await push(100)).toBe(300);
  });

  test.concurrent('the next read over REST and gRPC finds a new variable, and no longer finds a deleted variable (R-G1, R-J2)', async () => {
    const { variableId, remove } = await createMapped();
    const grpc = createGrpcReader(grpcAddress, far.token);
    expect((await far.get(`/variables/${variableId}`)).status).toBe(200);
    expect((await grpc.readLast({ variableIds: [variableId] })).values).toEqual([]);
    await remove();
    expect((await far.get(`/variables/${variableId}`)).status).toBe(404);
    expect((await far.get(`/data?variableId=${variableId}`)).status).toBe(404);
    expect((await grpc.refusalOf({ variableIds: [variableId] }, 'ReadLast')).reason).toBe('not_found');
    grpc.close();
  });

  test.concurrent('when a user loses access to a site, reads and pushes there are refused within seconds (R-B5, R-B9)', async () => {
    const { variableId } = await createMapped();
    const userId = await world.addUser('una@example.test', { role: 'USER', mayPush: true, sites: [siteId] });
    const una = await signIn(processes[1]?.http ?? '', undefined, 'una@example.test');
    const grpc = createGrpcReader(grpcAddress, una.token);
    const push = async () => {
      const body = [{ variableId, data: [{ date: nextDate(), value: 1 }] }];
      return (await una.call<Pushed>('POST', '/api/data', body)).accepted.elements;
    };
    const readStatus = async () => (await una.get(`/variables/${variableId}`)).status;
    expect([await readStatus(), await push()]).toEqual([200, 1]);
    await near.call('DELETE', `/account/user/${userId}/sites`, [siteId]);
    const startMs = performance.now();
    await eventually('the end of the access', async () => (await readStatus()) === 404, NOTIFIED_MS);
    expect(await push()).toBe(0);
    expect((await grpc.refusalOf({ variableIds: [variableId] }, 'ReadLast')).reason).toBe('not_found');
    expect(performance.now() - startMs).toBeLessThan(2 * NOTIFIED_MS);
    grpc.close();
  });
});
