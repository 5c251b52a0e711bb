/** Uses the running images as a client would: a token, a variable, one point in, the same point and its double out. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CHECKOUT } from '../paths.ts';
import type { Secrets } from '../secrets.ts';
import { DEMO_CLIENT_ID, demoUsers } from '../seed.ts';
import { SetupError } from '../setup-error.ts';
import { type CheckPlan, containerName } from './arguments.ts';
import { readValues } from './grpc.ts';
import { podman } from './podman.ts';

const ARRIVAL_TIMEOUT_MS = 30_000;
const ASK_INTERVAL_MS = 50;
const POINT = { date: '2026-03-01T00:15:00Z', value: 21 } as const;
const DOUBLING = 'list(TimeSeries = transform(inputVariables$metered$TimeSeries, Values = Values * 2))';

type Call = <Body>(method: string, path: string, body?: unknown) => Promise<Body>;

export interface ProbedVariables {
  readonly token: string;
  readonly meteredId: number;
  readonly doubledId: number;
}

/**
 * Makes account, users and client inside the api container, which holds no code for that: `seed.ts` comes over standard
 * input, from a directory beside which its imports are found.
 */
export async function seedFirstAccount(plan: CheckPlan, secrets: Secrets): Promise<void> {
  const seed = readFileSync(join(CHECKOUT, 'src/local/seed.ts'), 'utf8');
  const call = 'await seedIdentity(process.env.DATABASE_URL, JSON.parse(process.env.SEED_SECRETS));';
  await podman(
    [
      ...['exec', '--interactive', '--env', 'SEED_SECRETS', '--workdir', '/app/src/accounts'],
      ...[containerName(plan, 'api'), 'node', '--input-type=module-typescript', '-'],
    ],
    { input: `${seed}\n${call}\n`, environment: { SEED_SECRETS: JSON.stringify(secrets) } },
  );
}

/** Makes a site with a pushed and a calculated variable, and pushes one point. */
export async function pushOnePoint(api: string, secrets: Secrets): Promise<ProbedVariables> {
  const token = await signIn(api, secrets);
  const call = createCall(api, token);
  const siteId = await call<number>('POST', '/sites', { name: 'Image check', timeZoneId: 'Europe/Brussels' });
  const { id: sourceId } = await call<{ id: number }>('POST', '/sources', { siteId, name: 'Meter' });
  const path = `/variables/source/${sourceId}`;
  const { id: meteredId } = await call<{ id: number }>('POST', path, { name: 'Metered', isVersioned: true });
  const input = { alias: 'metered', variableId: meteredId, periodType: 'RelativeDate', period: 1 };
  const formula = { formula: DOUBLING, variables: [input] };
  const { id: doubledId } = await call<{ id: number }>('POST', path, {
    name: 'Doubled',
    calculated: { friendlyName: 'Doubled', calculatedVariableFormulas: [formula] },
  });
  await call('POST', '/api/data', [{ variableId: meteredId, data: [POINT] }]);
  return { token, meteredId, doubledId };
}

/** Waits until the pushed point can be read. */
export function readPushed(api: string, { token, meteredId }: ProbedVariables): Promise<void> {
  return awaitPoint(createCall(api, token), meteredId, POINT.value);
}

/** Waits until the point computed from it can be read. */
export function readComputed(api: string, { token, doubledId }: ProbedVariables): Promise<void> {
  return awaitPoint(createCall(api, token), doubledId, POINT.value * 2);
}

/** Reads both over gRPC. @throws SetupError when they are not what REST gave. */
export async function readOverGrpc(address: string, variables: ProbedVariables): Promise<void> {
  const { token, meteredId, doubledId } = variables;
  const values = [...(await readValues(address, token, meteredId)), ...(await readValues(address, token, doubledId))];
  const expected = [POINT.value, POINT.value * 2];
  if (values.join() !== expected.join()) {
    throw new SetupError(`${expected.join()} was expected over gRPC, got ${values.join()}`);
  }
}

async function awaitPoint(call: Call, variableId: number, expected: number): Promise<void> {
  const deadline = performance.now() + ARRIVAL_TIMEOUT_MS;
  for (;;) {
    const rows = await call<readonly { date: string; rawValue: number }[]>('GET', `/data?variableId=${variableId}`);
    const [row] = rows;
    if (rows.length === 1 && row?.rawValue === expected && Date.parse(row.date) === Date.parse(POINT.date)) return;
    if (rows.length > 0 || performance.now() > deadline) {
      throw new SetupError(`one point of ${expected} at ${POINT.date} was expected, got ${JSON.stringify(rows)}`);
    }
    await pause(ASK_INTERVAL_MS);
  }
}

async function signIn(api: string, secrets: Secrets): Promise<string> {
  const manager = demoUsers(secrets).find(({ role }) => role === 'MANAGER');
  const form = new URLSearchParams({
    grant_type: 'password',
    client_id: DEMO_CLIENT_ID,
    client_secret: secrets.clientSecret,
    scope: 'datahub-api push-data',
    username: manager?.userName ?? '',
    password: manager?.password ?? '',
  });
  const answer = await fetch(`${api}/realms/tidemark/protocol/openid-connect/token`, { method: 'POST', body: form });
  const text = await answer.text();
  if (!answer.ok) throw new SetupError(`no token was given: ${answer.status} ${text}`);
  return (JSON.parse(text) as { access_token: string }).access_token;
}

function createCall(api: string, token: string): Call {
  return async <Body>(method: string, path: string, body?: unknown) => {
    const answer = await fetch(api + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new SetupError(`${method} ${path} answered ${answer.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as Body;
  };
}
