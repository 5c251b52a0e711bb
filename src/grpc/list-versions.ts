/** `ListVersions` (R-F8, R-J1): the VersionTags of `GET /variables/{id}/versions`, as one message. */
import type { Caller } from '../identity/caller/caller.ts';
import type { Database } from '../platform/database/database.ts';
import { DomainError } from '../platform/errors.ts';
import { pageOf } from '../platform/http/paging.ts';
import { getResource } from '../structure/resource.ts';
import { VARIABLE } from '../structure/variable.ts';
import { listVersions, type VersionInUse } from '../structure/versions/list-versions.ts';
import { type AnswerServices, type Counted, unaryHandler } from './answer.ts';
import { toMicros } from './instants.ts';
import { type PagingMessage, toPaging } from './read-request.ts';

interface ListVersionsMessage extends PagingMessage {
  readonly variableId: number;
}

interface VersionMessage {
  readonly version?: string;
  readonly firstVersionTimestampMicros: number;
  readonly lastVersionTimestampMicros: number;
  readonly pointCount: number;
}

interface ListVersionsResponse {
  readonly versions: readonly VersionMessage[];
  readonly totalCount: number;
}

const MAX_PAGE = 10_000;
// Maximum number of bytes of the VersionTags in a message. Each version takes at most 40 other bytes, so a message of
// MAX_PAGE versions stays below 4 MiB, the default limit of clients.
const MAX_TEXT_BYTES = 3 << 20;

/** Handles `ListVersions` (R-F8, R-J1). */
export function listVersionsHandler(services: AnswerServices & { readonly database: Database }) {
  return unaryHandler(services, 'ListVersions', (caller, message: ListVersionsMessage) =>
    answer(services.database, caller, message),
  );
}

async function answer(
  database: Database,
  caller: Caller,
  message: ListVersionsMessage,
): Promise<Counted<ListVersionsResponse>> {
  const paging = toPaging(message, { most: MAX_PAGE, usual: MAX_PAGE });
  const { id } = await getResource(database, VARIABLE, caller, message.variableId);
  const all = await listVersions(database, id);
  const versions = pageOf(all, paging);
  const bytes = versions.reduce((sum, { version }) => sum + Buffer.byteLength(version ?? ''), 0);
  if (bytes > MAX_TEXT_BYTES)
    throw new DomainError(
      'body_too_large',
      `the VersionTags of a page must be at most ${MAX_TEXT_BYTES >> 20} MiB in total, got ${bytes} bytes; set a lower items_per_page`,
    );
  return { message: { versions: versions.map(toMessage), totalCount: all.length }, count: versions.length };
}

function toMessage(used: VersionInUse): VersionMessage {
  return {
    ...(used.version !== null && { version: used.version }),
    firstVersionTimestampMicros: toMicros(used.firstVersionTimestamp),
    lastVersionTimestampMicros: toMicros(used.lastVersionTimestamp),
    pointCount: used.pointCount,
  };
}
