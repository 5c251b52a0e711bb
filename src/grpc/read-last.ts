/**
 * `ReadLast` (R-J1) answers with the last points of hundreds of variables in one message, for dashboards. It takes the
 * same selection fields as `ReadPoints`. Results that are too large for one message need `ReadPoints`, which streams.
 */
import type { Caller } from '../identity/caller/caller.ts';
import { DomainError } from '../platform/errors.ts';
import { locationError } from '../platform/http/input-location.ts';
import type { PointChunk } from '../points/point.ts';
import { streamPoints } from '../points/read/read-points.ts';
import { resolveSelection } from '../selection/selection.ts';
import { type Counted, type SendMetadata, unaryHandler } from './answer.ts';
import { type PointRowsMessage, pointRows, textBytes } from './messages/point-rows.ts';
import type { ReadServices } from './read-points.ts';
import { locationInMessage, type SelectionMessage, toCount, toSelection } from './read-request.ts';
import { sendCuts } from './send-cuts.ts';

interface ReadLastMessage extends SelectionMessage {
  readonly count: number;
}

interface ReadLastResponse {
  readonly points: PointRowsMessage;
}

// Limits of one answer: points, and bytes of texts (distinct VersionTags and tags). Besides its texts, a point takes at
// most 41 bytes, if variable ids are below 2^28 and unit ids below 2^21. So an answer stays below 4 MiB, the default
// limit of clients.
const MAX_POINTS = 50_000;
const MAX_TEXT_BYTES = 2 << 20;

/** Handles `ReadLast` (R-J1). */
export function readLastHandler(services: ReadServices) {
  return unaryHandler(services, 'ReadLast', (caller, message: ReadLastMessage, signal, send) =>
    readLast(services, caller, message, signal, send),
  );
}

async function readLast(
  { database, reads, dictionary }: ReadServices,
  caller: Caller,
  message: ReadLastMessage,
  signal: AbortSignal,
  send: SendMetadata,
): Promise<Counted<ReadLastResponse>> {
  const limit = toCount('count', message.count) || 1;
  const request = { ...toSelection(message), order: 'DESC', limit, offset: 0 } as const;
  const { selection, variables } = await resolveSelection(database, caller, request);
  assertFewEnough(variables.size, limit);
  const chunks: PointChunk[] = [];
  const source = reads.of(caller.accountId);
  for await (const chunk of streamPoints(source, selection, signal, sendCuts(send))) chunks.push(chunk);
  const labels = await dictionary.labelsOf(chunks);
  const points = pointRows(chunks, labels, (variableId) => variables.get(variableId)?.unitId ?? null);
  const bytes = textBytes(points);
  if (bytes <= MAX_TEXT_BYTES) return { message: { points }, count: points.variableIds.length };
  throw new DomainError(
    'body_too_large',
    `the distinct VersionTags and the distinct tags of the points must be at most ${MAX_TEXT_BYTES >> 20} MiB together, got ${bytes} bytes; use ReadPoints, which streams`,
  );
}

function assertFewEnough(variableCount: number, limit: number): void {
  if (variableCount * limit <= MAX_POINTS) return;
  const rule = `must request at most ${MAX_POINTS} points for all variables together, got ${limit} for each of ${variableCount} variables; use ReadPoints to read more`;
  throw locationError(locationInMessage('count'), rule);
}
