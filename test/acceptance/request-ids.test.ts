/** The roles api, grpc, ingester and calculator log the id of the request that caused the work (R-A10, R-K4). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGrpcReader } from '../support/clients/grpc-client.ts';
import { eventually } from '../support/eventually.ts';
import { CLIENT, PASSWORD } from '../support/fixtures/accounts.ts';
import { type ApiClient, signIn } from '../support/fixtures/sign-in.ts';
import { calculated, createSiteAndSource, createVariable } from '../support/fixtures/structure.ts';
import { createWorld, type World } from '../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../support/services/role-process.ts';
import { testRRoot } from '../support/services/stack.ts';

const VALUE = 135_797.531;

let world: World;
let roles: RoleProcess;
let api: ApiClient;
let sourceId: number;
let input: number;
let doubled: number;
let last: number;

beforeAll(async () => {
  world = await createWorld();
  roles = await startRoles(['api', 'grpc', 'ingester', 'calculator'], { ...world.environment, R_ROOT: testRRoot() });
  api = await signIn(roles.http);
  ({ sourceId } = await createSiteAndSource(api));
  input = await createVariable(api, sourceId);
  doubled = await addDoubled(input);
  last = await addDoubled(doubled);
}, 60_000);

afterAll(async () => {
  await roles?.kill();
  await world?.close();
});

function addDoubled(variableId: number): Promise<number> {
  const script =
    'ts <- inputVariables$a$TimeSeries; list(TimeSeries = data.frame(Dates = ts$Dates, Values = 2 * ts$Values))';
  const inputs = [{ alias: 'a', variableId, period: 1, periodTimeBase: 'Minute', canBeUsedAsATrigger: true }];
  return createVariable(api, sourceId, { calculated: calculated(script, inputs) });
}

type Line = Readonly<Record<string, unknown>>;

const linesOf = (requestId: string): readonly Line[] => {
  const lines = roles.log().trim().split('\n');
  return lines.map((text) => JSON.parse(text) as Line).filter((line) => line.requestId === requestId);
};

/** Waits for a log line of the request. */
const lineOf = (requestId: string, msg: string, fields: Line = {}) =>
  eventually(`"${msg}" of ${requestId}`, async () => {
    const isIt = (line: Line) => Object.entries({ msg, ...fields }).every(([name, value]) => line[name] === value);
    return linesOf(requestId).find(isIt);
  });

const withId = (requestId: string) => ({ headers: { 'x-request-id': requestId } });

describe('request ids: log lines (R-A10)', () => {
  test.each([1, 2_000])(
    'the lines of a push of %i point(s) and of both triggered runs have the request id',
    async (count) => {
      const requestId = `push-of-${count}`;
      const start = Date.UTC(2026, 2, count % 28);
      const data = Array.from({ length: count }, (_, index) => ({
        date: new Date(start + index * 1000),
        value: VALUE,
      }));
      await api.call('POST', '/api/data', [{ variableId: input, data }], withId(requestId));
      await lineOf(requestId, 'request', { path: '/api/data', accountId: world.accountId, status: 200 });
      for (const variableId of [doubled, last]) {
        const line = await lineOf(requestId, 'calculation ended', {
          variableId,
          accountId: world.accountId,
          outcome: 'ok',
        });
        expect(line).toMatchObject({ runId: expect.any(Number), waitMs: expect.any(Number), rMs: expect.any(Number) });
      }
      // The api writes a large push of new dates when it accepts the push, so the ingester logs no line for the push.
      if (count > 1) return;
      const line = await lineOf(requestId, 'batches ingested', { accountId: world.accountId });
      expect(line).toMatchObject({ readings: 1, durationMs: expect.any(Number) });
    },
  );

  test('the line of a forced run has the id of the request that forced it', async () => {
    await api.call('POST', `/variables/${doubled}/forceUpdate`, {}, withId('force'));
    await lineOf('force', 'calculation ended', { variableId: doubled });
  });

  test('the log line of an uploaded file and the log line of the run that it causes have the id of the upload request', async () => {
    const raw = `date;value;variable_id\n2026-05-01T00:00:00Z;${VALUE};${input}\n`;
    const headers = { 'content-type': 'text/csv', ...withId('file').headers };
    const fileId = await api.call<string>('POST', '/storage?filename=a.csv', undefined, { raw, headers });
    const line = await lineOf('file', 'file processing ended', { fileId, accountId: world.accountId });
    expect(line).toMatchObject({ durationMs: expect.any(Number) });
    await lineOf('file', 'calculation ended', { variableId: doubled });
  });

  test('the log line of a gRPC call, refused or not, has the id of the call', async () => {
    const reader = createGrpcReader(roles.grpc, api.token);
    await reader.readPoints({ variableIds: [input] });
    const line = await lineOf('grpc-test', 'call', { method: 'ReadPoints', accountId: world.accountId });
    expect(line).toMatchObject({ durationMs: expect.any(Number), count: expect.any(Number) });
    await reader.refusalOf({ variableIds: [987_654] });
    await lineOf('grpc-test', 'call', { method: 'ReadPoints', accountId: world.accountId, code: 'NOT_FOUND' });
    reader.close();
  });

  test('the line and the error body of a failed request have the id of the request', async () => {
    const answer = await api.send<{ requestId: string }>('GET', '/sites/987654', undefined, withId('wrong'));
    expect(answer.body.requestId).toBe('wrong');
    await lineOf('wrong', 'request', { status: 404, accountId: world.accountId });
  });
});

test('request ids: no pushed value, script, token, client secret or password appears in the log of the tests above (R-K4)', () => {
  for (const secret of [String(VALUE), 'inputVariables', api.token ?? 'no token', CLIENT.secret, PASSWORD]) {
    expect(roles.log()).not.toContain(secret);
  }
});
