/** Tries the running containers: creates an account, pushes and reads points, and loads the console. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { SetupError } from '../setup-error.ts';
import { type CheckPlan, containerName } from './arguments.ts';
import { readValues } from './grpc.ts';
import { podman } from './podman.ts';

const ARRIVAL_TIMEOUT_MS = 30_000;
const POLL_MS = 50;
const POINT = { date: '2026-03-01T00:15:00Z', value: 21 } as const;
const MANAGER = 'manager@check.example';
const CLIENT_ID = 'image-check';
const PASSWORD_BYTES = 18;
const DOUBLING = 'list(TimeSeries = transform(inputVariables$metered$TimeSeries, Values = Values * 2))';

type Call = <Body>(method: string, path: string, body?: unknown) => Promise<Body>;

/** The password of the manager and the secret of the client; the probe signs in with both. */
export interface ProbeSignIn {
  readonly password: string;
  readonly clientSecret: string;
}

export interface ProbedVariables {
  readonly token: string;
  readonly meteredId: number;
  readonly doubledId: number;
}

/**
 * Creates an account, its manager and a client, as an operator does: with the admin command in the api container.
 * @throws {SetupError} when the command fails or prints no client secret.
 */
export async function createFirstAccount(plan: CheckPlan): Promise<ProbeSignIn> {
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  const { output } = await podman(
    [
      ...['exec', '--interactive', containerName(plan, 'api'), 'node', 'src/main.ts', 'admin', 'create-account'],
      ...['--name', 'Image check', '--manager', MANAGER, '--client', CLIENT_ID, '--password-stdin'],
    ],
    { input: `${password}\n` },
  );
  const clientSecret = /, secret (\S+),/.exec(output)?.[1];
  if (clientSecret === undefined) throw new SetupError(`create-account printed no client secret:\n${output}`);
  return { password, clientSecret };
}

/**
 * Creates a site with a pushed and a calculated variable, and pushes one point.
 * @throws {SetupError} when a request fails.
 */
export async function pushOnePoint(api: string, secrets: ProbeSignIn): Promise<ProbedVariables> {
  const token = await signIn(api, secrets);
  const call = createCall(api, token);
  // A user of any role needs this claim to push (R-B8).
  const [manager] = await call<readonly { id: string }[]>('GET', '/account/users');
  await call('POST', `/account/user/${manager?.id}/claims/add`, { claimType: 'datapusher.standard' });
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

/**
 * Waits until the pushed point can be read. @throws {SetupError} when the point does not appear in time, or when
 * anything other than this one point appears.
 */
export function readPushed(api: string, { token, meteredId }: ProbedVariables): Promise<void> {
  return awaitPoint(createCall(api, token), meteredId, POINT.value);
}

/**
 * Waits until the computed point can be read. @throws {SetupError} when the point does not appear in time, or when
 * anything other than this one point appears.
 */
export function readComputed(api: string, { token, doubledId }: ProbedVariables): Promise<void> {
  return awaitPoint(createCall(api, token), doubledId, POINT.value * 2);
}

/**
 * Reads the pushed and the computed point over gRPC.
 * @throws {SetupError} when a value differs from the expected value.
 */
export async function readOverGrpc(address: string, variables: ProbedVariables): Promise<void> {
  const { token, meteredId, doubledId } = variables;
  const values = [...(await readValues(address, token, meteredId)), ...(await readValues(address, token, doubledId))];
  const expected = [POINT.value, POINT.value * 2];
  if (values.join() !== expected.join()) {
    throw new SetupError(`gRPC must return the values ${expected.join(', ')}, got ${values.join(', ') || 'none'}`);
  }
}

/**
 * Loads the console as a browser does: the page, then its scripts and style sheets. @throws {SetupError} when the page
 * links to no script or style sheet, or when a file cannot be loaded.
 */
export async function loadConsole(api: string): Promise<void> {
  const html = await loadText(`${api}/`, 'text/html');
  const assets = [...html.matchAll(/(?:src|href)="(\/console\/[^"]+\.(?:js|css))"/g)].map(([, path]) => path);
  if (assets.length === 0)
    throw new SetupError(
      `the answer to GET / with Accept: text/html must link to scripts or style sheets under /console/, got ${html}`,
    );
  for (const path of assets) await loadText(api + path, '*/*');
}

async function loadText(address: string, accept: string): Promise<string> {
  const answer = await fetch(address, { headers: { accept } });
  const text = await answer.text();
  if (!answer.ok) throw new SetupError(`GET ${address} answered ${answer.status} ${text}`);
  return text;
}

async function awaitPoint(call: Call, variableId: number, expected: number): Promise<void> {
  const path = `/data?variableId=${variableId}`;
  const deadline = performance.now() + ARRIVAL_TIMEOUT_MS;
  for (;;) {
    const rows = await call<readonly { date: string; rawValue: number }[]>('GET', path);
    const [row] = rows;
    if (rows.length === 1 && row?.rawValue === expected && Date.parse(row.date) === Date.parse(POINT.date)) return;
    if (rows.length > 0 || performance.now() > deadline) {
      const rule = `within ${ARRIVAL_TIMEOUT_MS / 1000} s, GET ${path} must return only the point with the value ${expected} at ${POINT.date}`;
      throw new SetupError(`${rule}, got ${JSON.stringify(rows)}`);
    }
    await pause(POLL_MS);
  }
}

async function signIn(api: string, { password, clientSecret }: ProbeSignIn): Promise<string> {
  const form = new URLSearchParams({
    grant_type: 'password',
    client_id: CLIENT_ID,
    client_secret: clientSecret,
    scope: 'datahub-api push-data',
    username: MANAGER,
    password,
  });
  const answer = await fetch(`${api}/realms/tidemark/protocol/openid-connect/token`, { method: 'POST', body: form });
  const text = await answer.text();
  if (!answer.ok) throw new SetupError(`the token endpoint answered ${answer.status} ${text}`);
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
