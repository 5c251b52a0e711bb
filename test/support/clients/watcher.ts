/** A `WatchPoints` client that records the received points and can pause, cancel and resume. */
import type { ServiceError } from '@grpc/grpc-js';
import { eventually } from '../eventually.ts';
import { type GrpcFailure, type GrpcReader, type PointRows, toFailure } from './grpc-client.ts';

interface WatchMessage {
  readonly points?: PointRows | null;
  readonly cursor: Buffer;
}

export interface WatchedPoint {
  readonly variableId: number;
  readonly date: number;
  readonly value: number;
  readonly versionTimestamp: number;
  readonly version: string | null;
}

export interface Watcher {
  /** @returns all points so far, in order of arrival. */
  points(): readonly WatchedPoint[];
  /** @returns the number of messages so far. @throws Error when the server has ended the watch. */
  messageCount(): number;
  /** @returns the cursor of the last message. */
  cursor(): Buffer;
  /** Waits for the first message. The watch delivers every commit that happens after this message. */
  begun(): Promise<void>;
  /** Waits until `count` points have arrived. */
  until(count: number): Promise<readonly WatchedPoint[]>;
  /** Waits for the status with which the server ends the watch. */
  ended(): Promise<GrpcFailure>;
  /** Stops reading messages until `resume`. */
  pause(): void;
  resume(): void;
  cancel(): void;
}

export function openWatcher(reader: GrpcReader, request: object): Watcher {
  const points: WatchedPoint[] = [];
  const cursors: Buffer[] = [];
  let failure: GrpcFailure | undefined;
  const call = reader.open<WatchMessage>('WatchPoints', request);
  call.on('data', (message: WatchMessage) => {
    cursors.push(message.cursor);
    if (message.points) points.push(...toPoints(message.points));
  });
  call.on('error', (error: ServiceError) => {
    failure = toFailure(error);
  });
  const assertOpen = () => {
    if (failure) throw new Error(`the watch ended: ${JSON.stringify(failure)}`);
  };
  return {
    points: () => points,
    messageCount: () => {
      assertOpen();
      return cursors.length;
    },
    cursor: () => cursors.at(-1) ?? Buffer.alloc(0),
    begun: async () => {
      await eventually('the first message of a watch', async () => failure !== undefined || cursors.length > 0);
      assertOpen();
    },
    until: async (count) => {
      await eventually(`${count} points`, async () => failure !== undefined || points.length >= count);
      if (points.length < count) assertOpen();
      return points;
    },
    ended: () => eventually('the end of the watch', async () => failure),
    pause: () => call.pause(),
    resume: () => call.resume(),
    cancel: () => call.cancel(),
  };
}

function toPoints({ variableIds, dateMicros, values, versionTimestampMicros, ...rows }: PointRows): WatchedPoint[] {
  return variableIds.map((variableId, row) => ({
    variableId,
    date: dateMicros[row] ?? Number.NaN,
    value: values[row] ?? Number.NaN,
    versionTimestamp: versionTimestampMicros[row] ?? Number.NaN,
    version: rows.versions[(rows.versionCodes[row] ?? 0) - 1] ?? null,
  }));
}
