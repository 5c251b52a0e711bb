/**
 * Tests reflection: `buf curl` fetches every type from the server. Also tests the health service while the server
 * stops.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  type ClientReadableStream,
  credentials,
  status as GrpcStatus,
  loadPackageDefinition,
  type ServiceClientConstructor,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { protoPath } from 'grpc-health-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGrpcServer } from '../../../src/grpc/start-grpc-server.ts';
import { createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const BUF = fileURLToPath(new URL('../../../node_modules/@bufbuild/buf/bin/buf', import.meta.url));
const run = promisify(execFile);

let api: TestApi;
let plain: number;
let versioned: number;

const micros = (text: string) => String(Date.parse(text) * 1000);

/** @returns standard output of `buf curl` against the server. */
async function curl(path: string, ...options: readonly string[]): Promise<string> {
  const url = `http://${api.grpcAddress}${path}`;
  const fixed = ['curl', '--protocol', 'grpc', '--http2-prior-knowledge'];
  return (await run(process.execPath, [BUF, ...fixed, ...options, url], { timeout: 20_000 })).stdout;
}

/** @returns the messages of the answer, parsed from JSON. */
async function call(method: string, request: object): Promise<readonly unknown[]> {
  const headers = ['-H', `authorization: Bearer ${api.manager.token}`];
  const text = await curl(`/${method}`, ...headers, '-d', JSON.stringify(request));
  return JSON.parse(`[${text.trim().replaceAll(/}\s*{/g, '},{')}]`) as unknown[];
}

async function push(variableId: number, readings: readonly object[]): Promise<void> {
  expect((await api.manager.post('/api/data', [{ variableId, data: readings }])).status).toBe(200);
  await api.ingest();
}

beforeAll(async () => {
  api = await startTestApi();
  const { sourceId, variableId } = await createStructure(api.manager);
  plain = variableId;
  versioned = await createVariable(api.manager, sourceId, { isVersioned: true });
  await push(plain, [{ date: '2026-03-01T00:00:00Z', value: 1.5 }]);
  await push(versioned, [
    { date: '2026-03-01T00:00:00Z', value: 1, version: 'V1', tags: { quality: 'raw' } },
    { date: '2026-03-01T00:00:00Z', value: 2, version: 'V2', tags: { quality: 'checked' } },
  ]);
});
afterAll(async () => {
  await api?.close();
});

describe('grpc: reflection, used by a client without the proto', () => {
  it('lists every service, including the health service, and the calls of `DataPoints` (R-J1)', async () => {
    const services = (await curl('', '--list-services')).trim().split('\n');
    expect(services.sort()).toEqual([
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
      'tidemark.v1.DataPoints',
    ]);
    const methods = (await curl('', '--list-methods')).trim().split('\n');
    expect(methods.filter((method) => method.startsWith('tidemark')).sort()).toEqual([
      'tidemark.v1.DataPoints/ListRuns',
      'tidemark.v1.DataPoints/ListVersions',
      'tidemark.v1.DataPoints/ReadLast',
      'tidemark.v1.DataPoints/ReadPoints',
      'tidemark.v1.DataPoints/WatchPoints',
    ]);
  });

  it('describes optional fields, enums and packed columns so that points can be read (R-J1)', async () => {
    const request = { variableIds: [plain], fromMicros: micros('2026-02-01T00:00:00Z'), order: 'DESC' };
    expect(await call('tidemark.v1.DataPoints/ReadPoints', request)).toEqual([
      expect.objectContaining({ variableId: plain, dateMicros: [micros('2026-03-01T00:00:00Z')], values: [1.5] }),
    ]);
  });

  it('describes map fields well enough for the client to set one in a request (R-J1)', async () => {
    const request = { variableIds: [versioned], tags: { quality: 'raw' } };
    expect(await call('tidemark.v1.DataPoints/ReadPoints', request)).toEqual([
      expect.objectContaining({ values: [1], versions: ['V1'] }),
    ]);
  });

  it('describes optional fields so that a client can tell that a field is absent (R-J1)', async () => {
    const [answer] = await call('tidemark.v1.DataPoints/ListVersions', { variableId: plain });
    expect(answer).toEqual({ versions: [expect.not.objectContaining({ version: expect.anything() })], totalCount: 1 });
  });

  it('describes the health service (R-J1)', async () => {
    const answer = await call('grpc.health.v1.Health/Check', { service: 'tidemark.v1.DataPoints' });
    expect(answer).toEqual([{ status: 'SERVING' }]);
  });
});

interface HealthClient {
  watch(request: object): ClientReadableStream<{ readonly status: string }>;
  close(): void;
}

function openHealthClient(address: string): HealthClient {
  const { grpc } = loadPackageDefinition(loadSync(protoPath, { enums: String })) as unknown as {
    grpc: { health: { v1: { Health: ServiceClientConstructor } } };
  };
  return new grpc.health.v1.Health(address, credentials.createInsecure()) as unknown as HealthClient;
}

describe('grpc: health service of a server that is stopping', () => {
  it.each([
    ['the whole server', ''],
    ['the service tidemark.v1.DataPoints', 'tidemark.v1.DataPoints'],
  ])(
    'when the server stops, a health watch of %s goes from SERVING to NOT_SERVING and ends with UNAVAILABLE, without using up the grace period (R-J2, R-K2)',
    async (_what, service) => {
      const server = await startGrpcServer(api.parts, '127.0.0.1', 0);
      const client = openHealthClient(server.address);
      const statuses: string[] = [];
      const serving = Promise.withResolvers<void>();
      const ended = Promise.withResolvers<number>();
      const watch = client.watch({ service });
      watch.on('data', ({ status }) => {
        statuses.push(status);
        serving.resolve();
      });
      watch.on('error', ({ code }: ServiceError) => ended.resolve(code));
      await serving.promise;
      // The grace period is longer than the time limit of the test: the test fails if the server uses up the period.
      await server.stop(120_000);
      expect(await ended.promise).toBe(GrpcStatus.UNAVAILABLE);
      expect(statuses).toEqual(['SERVING', 'NOT_SERVING']);
      client.close();
    },
  );
});
