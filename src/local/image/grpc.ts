/** Reads points over gRPC with the public proto, as a client does. */
import { Client, credentials, Metadata, type MethodDefinition, type ServiceDefinition } from '@grpc/grpc-js';
import { loadPublicPackage } from '../../grpc/load-proto.ts';

const SERVICE = 'tidemark.v1.DataPoints';
const DEADLINE_MS = 10_000;

interface Request {
  readonly variableIds: readonly number[];
}

interface Chunk {
  readonly values: readonly number[];
}

/** @returns the values of the variable in order of date. @throws {ServiceError} when the server refuses. */
export async function readValues(address: string, token: string, variableId: number): Promise<readonly number[]> {
  const service = loadPublicPackage()[SERVICE] as ServiceDefinition;
  const { path, requestSerialize, responseDeserialize } = service.ReadPoints as MethodDefinition<Request, Chunk>;
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  const client = new Client(address, credentials.createInsecure());
  try {
    const deadline = Date.now() + DEADLINE_MS;
    const request = { variableIds: [variableId] };
    const chunks = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request, metadata, {
      deadline,
    });
    const values: number[] = [];
    for await (const chunk of chunks) values.push(...(chunk as Chunk).values);
    return values;
  } finally {
    client.close();
  }
}
