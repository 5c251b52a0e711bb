/** A gRPC client built from the public proto alone. */
import { fileURLToPath } from 'node:url';
import {
  type ClientReadableStream,
  credentials,
  loadPackageDefinition,
  Metadata,
  type MethodDefinition,
  type ServiceClientConstructor,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import protobuf from 'protobufjs';

const PROTO = fileURLToPath(new URL('../../../proto/tidemark/v1/data_points.proto', import.meta.url));
const { DataPoints } = (
  loadPackageDefinition(loadSync(PROTO, { longs: Number, enums: String, defaults: true })) as unknown as {
    tidemark: { v1: { DataPoints: ServiceClientConstructor } };
  }
).tidemark.v1;

// The parts of google/rpc/status.proto and error_details.proto that the client uses.
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

/**
 * Points of several variables, stored column by column. A code in `versionCodes` is the 1-based position of a text in
 * `versions`. A code in `tagCodes` is the 1-based position of a text in `tags`. The code 0 means that there is no text.
 */
export interface PointRows {
  readonly variableIds: readonly number[];
  readonly dateMicros: readonly number[];
  readonly values: readonly number[];
  readonly versionTimestampMicros: readonly number[];
  readonly versionCodes: readonly number[];
  readonly versions: readonly string[];
  readonly tagCodes: readonly number[];
  readonly tags: readonly string[];
  readonly unitIds: readonly number[];
}

export interface VersionInUse {
  readonly version?: string;
  readonly firstVersionTimestampMicros: number;
  readonly lastVersionTimestampMicros: number;
  readonly pointCount: number;
}

/** Status of a refused call. */
export interface GrpcFailure {
  readonly code: number;
  readonly message: string;
  /** Error code in ErrorInfo. */
  readonly reason: string;
  readonly requestId: string;
  /** Field violations of BadRequest. */
  readonly fields: readonly { readonly field: string; readonly description: string }[];
}

export type Method = 'ReadPoints' | 'ReadLast' | 'ListVersions' | 'ListRuns' | 'WatchPoints';

/** The names of all methods of the service in the proto. */
export const GRPC_METHODS = Object.keys(DataPoints.service) as readonly Method[];

export interface GrpcReader {
  /** Reads the whole stream. @throws ServiceError */
  readPoints(request: object): Promise<readonly PointChunk[]>;
  readLast(request: object): Promise<PointRows>;
  listVersions(request: object): Promise<{ readonly versions: readonly VersionInUse[]; readonly totalCount: number }>;
  listRuns(request: object): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Opens a stream without a deadline. */
  open<Message>(method: Method, request: object): ClientReadableStream<Message>;
  /** @returns the status of a refused call. @throws Error when the call succeeds. */
  refusalOf(request: object, method?: Method): Promise<GrpcFailure>;
  close(): void;
}

const DEADLINE_MS = 20_000;

/** @param token the bearer token of all calls; undefined for calls without credentials. */
export function createGrpcReader(address: string, token: string | undefined): GrpcReader {
  const client = new DataPoints(address, credentials.createInsecure());
  const metadata = new Metadata();
  if (token !== undefined) metadata.set('authorization', `Bearer ${token}`);
  metadata.set('x-request-id', 'grpc-test');
  // Also starts unary calls: on the wire, the answer of a unary call is a stream of one message.
  const start = (method: Method, request: object, deadline: number) => {
    const { path, requestSerialize, responseDeserialize } = DataPoints.service[method] as MethodDefinition<
      object,
      object
    >;
    return client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request, metadata, { deadline });
  };
  const read = async <Message>(method: Method, request: object): Promise<readonly Message[]> => {
    const messages: Message[] = [];
    for await (const message of start(method, request, Date.now() + DEADLINE_MS)) messages.push(message as Message);
    return messages;
  };
  const readOne = async <Message>(method: Method, request: object): Promise<Message> => {
    const [message] = await read<Message>(method, request);
    if (message === undefined) throw new Error(`${method} returned no message`);
    return message;
  };
  return {
    readPoints: (request) => read('ReadPoints', request),
    readLast: async (request) => (await readOne<{ readonly points: PointRows }>('ReadLast', request)).points,
    listVersions: (request) => readOne('ListVersions', request),
    listRuns: (request) => read('ListRuns', request),
    open: <Message>(method: Method, request: object) =>
      start(method, request, Number.POSITIVE_INFINITY) as ClientReadableStream<Message>,
    refusalOf: async (request, method = 'ReadPoints') => {
      const error = await read(method, request).then(
        () => undefined,
        (failure: ServiceError) => failure,
      );
      if (!error) throw new Error('the call succeeded, but a refusal was expected');
      return toFailure(error);
    },
    close: () => client.close(),
  };
}

/** @returns the frame of a request over HTTP/2: a byte 0 (not compressed), the length of the message, the message. */
export function encodeGrpcRequest(method: Method, request: object): Buffer {
  const message = (DataPoints.service[method] as MethodDefinition<object, object>).requestSerialize(request);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** @returns the details of a failed call. */
export function toFailure({ code, details, metadata }: ServiceError): GrpcFailure {
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
