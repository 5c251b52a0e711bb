/** Finds the uploaded files that versions of points came from. */
import type { Caller } from '../identity/caller/caller.ts';
import type { Queryable } from '../platform/database/database.ts';

/** The file that a version of a point came from, with only those properties that the caller may see. */
export interface FileOrigin {
  readonly kind: 'File';
  /** Absent, like `filename` and `userId`, when the caller may not read the file. */
  readonly fileId?: string;
  readonly filename?: string;
  readonly userId?: string;
  readonly uploadedDate?: string;
}

interface FileRow extends Required<Omit<FileOrigin, 'kind'>> {
  readonly isReadable: boolean;
}

// `isReadable` follows the rule of `GET /storage/{id}`: a USER reads only their own files.
const FIND = `
  select id as "fileId", filename, user_id as "userId", uploaded_date as "uploadedDate", ($3 or user_id = $4) as "isReadable"
  from stored_file where id = any($1::uuid[]) and account_id = $2`;

/** @returns a map from file id to origin. The map does not contain deleted files. */
export async function findFileOrigins(
  queryable: Queryable,
  { accountId, role, userId }: Caller,
  fileIds: readonly string[],
): Promise<ReadonlyMap<string, FileOrigin>> {
  const { rows } = await queryable.query<FileRow>(FIND, [fileIds, accountId, role !== 'USER', userId]);
  return new Map(
    rows.map(({ isReadable, uploadedDate, ...file }) => {
      return [file.fileId, { kind: 'File', uploadedDate, ...(isReadable && file) }];
    }),
  );
}
