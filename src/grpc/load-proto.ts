/**
 * The public proto in three views: as a client loads it, as the server encodes it, and as reflection serves it.
 *
 * On the wire, a packed repeated field of fixed-width numbers looks like a `bytes` field. So the server declares the
 * fixed-width columns of the points as `bytes`, and writes each column as one Buffer (messages/columns.ts). In a
 * measurement, the server sent about five times as many points per second as when protobufjs encoded the numbers.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ServiceDefinition } from '@grpc/grpc-js';
import { fromJSON, type PackageDefinition } from '@grpc/proto-loader';
import protobuf from 'protobufjs';
import descriptor, { type IFileDescriptorSet } from 'protobufjs/ext/descriptor/index.js';

const { FileDescriptorProto, FileDescriptorSet } = descriptor;

const PROTO_PATH = fileURLToPath(new URL('../../proto/tidemark/v1/data_points.proto', import.meta.url));
/** FileDescriptorSet of the public proto and of the protos of health and reflection; .buf.yaml says how to build it. */
const DESCRIPTORS = new URL('../../proto/descriptors.binpb', import.meta.url);
const SERVICE = 'tidemark.v1.DataPoints';
const COLUMNAR = ['tidemark.v1.PointChunk', 'tidemark.v1.PointRows'];
const BYTES_COLUMNS = ['dateMicros', 'values', 'versionTimestampMicros'];

const OPTIONS = { longs: Number, enums: String, defaults: true, arrays: true };

/** @returns the public proto as clients load it. */
export function loadPublicPackage(): PackageDefinition {
  return fromJSON(loadRoot().toJSON(), OPTIONS);
}

/**
 * @returns the service. Its messages declare the fixed-width columns of the points as fields of type `bytes`.
 * @throws {Error} when the proto lacks one of these columns.
 */
export function loadServerService(): ServiceDefinition {
  const root = loadRoot();
  for (const type of COLUMNAR.map((name) => root.lookupType(name))) {
    for (const name of BYTES_COLUMNS) {
      const column = type.fields[name];
      if (!column) throw new Error(`${type.name} has no field ${name}`);
      const { id } = column;
      type.remove(column);
      type.add(new protobuf.Field(name, id, 'bytes'));
    }
  }
  return fromJSON(root.toJSON(), OPTIONS)[SERVICE] as ServiceDefinition;
}

/**
 * @returns the descriptors that reflection serves. Clients such as grpcurl refuse the descriptors that proto-loader
 * generates: map entries have wrong names, and `optional` and fully qualified type names are missing.
 */
export function loadReflectedPackage(): PackageDefinition {
  const set = FileDescriptorSet.decode(readFileSync(DESCRIPTORS)) as protobuf.Message & IFileDescriptorSet;
  const files = set.file.map((file) => Buffer.from(FileDescriptorProto.encode(file).finish()));
  // ReflectionService uses only `fileDescriptorProtos`, so the other members are absent.
  return { files: { fileDescriptorProtos: files } } as unknown as PackageDefinition;
}

function loadRoot(): protobuf.Root {
  return new protobuf.Root().loadSync(PROTO_PATH, { keepCase: false });
}
