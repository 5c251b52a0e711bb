/**
 * Writes the messages of a watch as server-sent events. The id of a `points` or `cursor` event is a watch cursor: the
 * positions that the reader has reached.
 * - `points`: points in the JSON of the display level `Columns`.
 * - `cursor`: carries no points. It only reports, in its id, the positions that the reader has reached.
 * - `end`: the reason why the service ends the stream.
 */
import { buffer } from 'node:stream/consumers';
import type { Dictionary } from '../../points/dictionary.ts';
import type { PointChunk } from '../../points/point.ts';
import { openNotice } from '../../selection/history-notice.ts';
import type { ReadVariable } from '../../selection/selection.ts';
import { encodeOnce, type WatchedPoints } from '../../watching/message-builder.ts';
import type { WatchMessage, WatchSink } from '../../watching/watch.ts';
import { writeJsonColumns } from '../formats/json-columns.ts';
import { pointTable } from '../point-tables.ts';

type Variables = ReadonlyMap<number, ReadVariable>;

/** Encodes a message of a watch as a server-sent event. */
export type EventWriter = (message: WatchMessage, variables: Variables) => Promise<Buffer>;

/** @returns a writer that encodes points only once, even when several streams send the same points. */
export function openEventWriter(dictionary: Dictionary): EventWriter {
  const encode = encodeOnce(({ chunks }: WatchedPoints, variables: Variables) => toJson(chunks, variables, dictionary));
  return async ({ points, cursor }, variables) => {
    const id = `id: ${cursor.toString('base64url')}\n`;
    if (!points) return Buffer.from(`event: cursor\n${id}data: {}\n\n`);
    return Buffer.concat([
      Buffer.from(`event: points\n${id}data: `),
      await encode(points, variables),
      Buffer.from('\n\n'),
    ]);
  };
}

/**
 * Writes points in the JSON of the display level `Columns`. The JSON has no line feeds, so that the event needs only
 * one line of data.
 */
async function toJson(chunks: readonly PointChunk[], variables: Variables, dictionary: Dictionary): Promise<Buffer> {
  async function* each(): AsyncGenerator<PointChunk> {
    yield* chunks;
  }
  const shape = { level: 'Columns', timeZoneId: undefined, variables, notice: openNotice() } as const;
  const json = await buffer(writeJsonColumns(pointTable(each(), dictionary, shape)));
  return Buffer.from(json.toString().replaceAll('\n', ''));
}

/** Builds the last event: the error that ends the stream, in the format of an error answer. */
export function endEvent(body: object): Buffer {
  return Buffer.from(`event: end\ndata: ${JSON.stringify(body)}\n\n`);
}

/** Passes the messages of a watch to the answer of a request, one message at a time. */
export interface EventQueue {
  sinkOf(variables: Variables): WatchSink;
  /**
   * Ends the queue.
   * @param error the error that ended the watch; undefined when the client disconnected.
   */
  close(error?: unknown): void;
  /**
   * Yields each message as an event. Builds an event only after the client has taken the previous one.
   * @throws the error passed to `close`.
   */
  events(): AsyncGenerator<Buffer>;
}

/** Opens the queue between a watch and its response. @param write function that encodes a message. */
export function openEventQueue(write: EventWriter): EventQueue {
  let waiting: { readonly event: Promise<Buffer>; readonly taken: () => void } | undefined;
  let end: { readonly error: unknown } | undefined;
  let wake = (): void => {};
  return {
    sinkOf: (variables) => ({
      write: (message, taken) => {
        waiting = { event: write(message, variables), taken };
        wake();
      },
    }),
    close: (error) => {
      end = { error };
      wake();
    },
    events: async function* () {
      for (;;) {
        if (!waiting && !end) await new Promise<void>((resolve) => (wake = resolve));
        if (waiting) {
          const { event, taken } = waiting;
          waiting = undefined;
          yield await event;
          taken();
        } else if (end) {
          if (end.error !== undefined) throw end.error;
          return;
        }
      }
    },
  };
}
