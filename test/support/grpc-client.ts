/** A client of the gRPC interface as readers build one: from the public proto alone. */
import { fileURLToPath } from 'node:url';
import {
  type ClientReadableStream,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceClientConstructor,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import protobuf from 'protobufjs';

const PROTO = fileURLToPath(new URL('../../proto/tidemark/v1/data_points.proto', import.meta.url));
const { DataPoints } = (
  loadPackageDefinition(loadSync(PROTO, { longs: Number, enums: String, defaults: true })) as unknown as {
    tidemark: { v1: { DataPoints: ServiceClientConstructor } };
  }
).tidemark.v1;

// google/rpc/status.proto and error_details.proto, as far as needed.
const { root } = protobuf.parse(`syntax = "proto3"; package google.rpc;
  message Any { string type_url = 1; bytes value = 2; }
  message Status { int32 code = 1; string message = 2; repeated Any details = 3; }
  message ErrorInfo { string reason = 1; string domain = 2; map<string, string> metadata = 3; }
  message FieldViolation { string field = 1; string description = 2; }
  message BadRequest { repeated FieldViolation field_violations = 1; }`);

export interface PointChunk {
  readonly variableId: number;
  readonly dateMicros: readonly number[];
  readonly values: readonly number[];
  readonly versionTimestampMicros: readonly number[];
  readonly versionCodes: readonly number[];
  readonly versions: readonly string[];
  readonly tagCodes: readonly number[];
  readonly tags: readonly string[];
  readonly aggregate: string;
  readonly unitId?: number;
}

/** How a refused call ended. */
export interface GrpcFailure {
  readonly code: number;
  readonly message: string;
  /** The code word in ErrorInfo. */
  readonly reason: string;
  readonly requestId: string;
  /** What BadRequest says of each field. */
  readonly fields: readonly { readonly field: string; readonly description: string }[];
}

export interface GrpcReader {
  /** Reads to the end. @throws ServiceError */
  readPoints(request: object): Promise<readonly PointChunk[]>;
  /** The refusal. @throws Error when the call succeeds. */
  refusalOf(request: object): Promise<GrpcFailure>;
  close(): void;
}

/** @param token undefined calls without credentials. */
export function createGrpcReader(address: string, token: string | undefined): GrpcReader {
  const client = new DataPoints(address, credentials.createInsecure());
  const metadata = new Metadata();
  if (token !== undefined) metadata.set('authorization', `Bearer ${token}`);
  metadata.set('x-request-id', 'grpc-test');
  const start = (request: object) =>
    client.makeServerStreamRequest(
      '/tidemark.v1.DataPoints/ReadPoints',
      DataPoints.service.ReadPoints?.requestSerialize as (value: object) => Buffer,
      DataPoints.service.ReadPoints?.responseDeserialize as (value: Buffer) => PointChunk,
      request,
      metadata,
      { deadline: Date.now() + 20_000 },
    );
  const readPoints = async (request: object) => {
    const chunks: PointChunk[] = [];
    const call: ClientReadableStream<PointChunk> = start(request);
    for await (const chunk of call) chunks.push(chunk as PointChunk);
    return chunks;
  };
  return {
    readPoints,
    refusalOf: async (request) => {
      const error = await readPoints(request).then(
        () => undefined,
        (failure: ServiceError) => failure,
      );
      if (!error) throw new Error('the call succeeded');
      return toFailure(error);
    },
    close: () => client.close(),
  };
}

function toFailure({ code, details, metadata }: ServiceError): GrpcFailure {
  const bytes = metadata.get('grpc-status-details-bin')[0];
  if (!Buffer.isBuffer(bytes)) return { code, message: details, reason: '', requestId: '', fields: [] };
  const status = root.lookupType('google.rpc.Status').decode(bytes) as unknown as {
    details: { typeUrl: string; value: Buffer }[];
  };
  const detailOf = (type: string) => {
    const detail = status.details.find(({ typeUrl }) => typeUrl === `type.googleapis.com/google.rpc.${type}`);
    return root.lookupType(`google.rpc.${type}`).decode(detail?.value ?? Buffer.alloc(0)) as unknown;
  };
  const info = detailOf('ErrorInfo') as { reason: string; metadata: Record<string, string> };
  const { fieldViolations } = detailOf('BadRequest') as { fieldViolations: GrpcFailure['fields'] };
  const fields = fieldViolations.map(({ field, description }) => ({ field, description }));
  return { code, message: details, reason: info.reason, requestId: info.metadata.requestId ?? '', fields };
}
