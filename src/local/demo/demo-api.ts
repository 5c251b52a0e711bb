/** API client of the demo. It uses the product as users do: through OAuth, REST, and gRPC with the public proto. */
import { fileURLToPath } from 'node:url';
import {
  type Client,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceClientConstructor,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { SetupError } from '../setup-error.ts';
import type { Stack } from '../stack.ts';

const PROTO = fileURLToPath(new URL('../../../proto/tidemark/v1/data_points.proto', import.meta.url));

export interface DemoApi {
  /** Calls a REST route. @throws {SetupError} with status and body when the status is not 2xx. */
  call<Body>(method: string, path: string, body?: unknown): Promise<Body>;
  /** @returns all points of a variable, read over gRPC. */
  readPoints(variableId: number): Promise<readonly DemoPoint[]>;
  close(): void;
}

export interface DemoPoint {
  readonly date: Date;
  readonly value: number;
  readonly version: string;
  readonly tags: Readonly<Record<string, string>>;
}

/**
 * One decoded message of the stream. A version code is an index in `versions`, and a tag code is an index in `tags`.
 * Both indexes start at 1; the code 0 means that the point has no version or no tags.
 */
interface Chunk {
  readonly dateMicros: readonly string[];
  readonly values: readonly number[];
  readonly versionCodes: readonly number[];
  readonly versions: readonly string[];
  readonly tagCodes: readonly number[];
  readonly tags: readonly string[];
}

/** Signs in as the stack's manager. @throws {SetupError} when the token request is refused. */
export async function openDemoApi(stack: Stack): Promise<DemoApi> {
  const token = await signIn(stack);
  const client = openClient(stack.grpc);
  return {
    call: (method, path, body) => call(stack, token, method, path, body),
    readPoints: (variableId) => readPoints(client, token, variableId),
    close: () => client.close(),
  };
}

async function signIn(stack: Stack): Promise<string> {
  const manager = stack.users.find(({ role }) => role === 'MANAGER');
  const form = new URLSearchParams({
    grant_type: 'password',
    client_id: stack.clientId,
    client_secret: stack.clientSecret,
    scope: 'datahub-api push-data',
    username: manager?.userName ?? '',
    password: manager?.password ?? '',
  });
  const address = `${stack.auth}/realms/${stack.realm}/protocol/openid-connect/token`;
  const answer = await expectOk(await fetch(address, { method: 'POST', body: form }), address);
  return ((await answer.json()) as { access_token: string }).access_token;
}

async function call<Body>(stack: Stack, token: string, method: string, path: string, body?: unknown): Promise<Body> {
  const base = path.startsWith('/api/') ? stack.push : stack.api;
  const response = await fetch(base + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await (await expectOk(response, `${method} ${path}`)).text();
  return (text === '' ? undefined : JSON.parse(text)) as Body;
}

async function expectOk(response: Response, what: string): Promise<Response> {
  if (response.ok) return response;
  throw new SetupError(`The demo could not be loaded: ${what} answered ${response.status} ${await response.text()}`);
}

function openClient(address: string): Client {
  const definition = loadSync(PROTO, { longs: String, enums: String, defaults: true, arrays: true });
  const { tidemark } = loadPackageDefinition(definition) as unknown as {
    readonly tidemark: { readonly v1: { readonly DataPoints: ServiceClientConstructor } };
  };
  return new tidemark.v1.DataPoints(address, credentials.createInsecure());
}

async function readPoints(client: Client, token: string, variableId: number): Promise<readonly DemoPoint[]> {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  const method = client as unknown as {
    ReadPoints(request: object, metadata: Metadata): AsyncIterable<Chunk>;
  };
  const points: DemoPoint[] = [];
  for await (const chunk of method.ReadPoints({ variableIds: [variableId] }, metadata)) points.push(...toPoints(chunk));
  return points;
}

function toPoints(chunk: Chunk): readonly DemoPoint[] {
  return chunk.dateMicros.map((micros, index) => ({
    date: new Date(Number(micros) / 1000),
    value: chunk.values[index] ?? Number.NaN,
    version: chunk.versions[(chunk.versionCodes[index] ?? 0) - 1] ?? '',
    tags: JSON.parse(chunk.tags[(chunk.tagCodes[index] ?? 0) - 1] ?? '{}') as Record<string, string>,
  }));
}
