/** A client of `GET /data/watch` that records the received events and points, and can resume an earlier stream. */
import { eventually } from '../eventually.ts';
import type { WatchedPoint } from './watcher.ts';

export interface ReceivedEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: unknown;
}

type WatchedEventPoint = Pick<WatchedPoint, 'variableId' | 'value' | 'version'>;

export interface EventStream {
  readonly status: number;
  readonly headers: Headers;
  /** Body of a refusal. */
  readonly refusal: { readonly code: string; readonly message: string } | undefined;
  events(): readonly ReceivedEvent[];
  /** @returns all points so far, in order of arrival. */
  points(): readonly WatchedEventPoint[];
  /** @returns the id of the last event with an id; undefined until an event with an id arrives. */
  cursor(): string | undefined;
  /** Waits for the first event. The stream delivers the points of every transaction that commits after this event. */
  begun(): Promise<void>;
  until(count: number): Promise<ReturnType<EventStream['points']>>;
  /** Waits for the event `end`. */
  ended(): Promise<ReceivedEvent>;
  isClosed(): boolean;
  /** Waits until the body of the response has ended. @returns true. */
  closed(): Promise<boolean>;
  close(): void;
}

interface Columns {
  readonly variableId: number;
  readonly date: readonly string[];
  readonly rawValue: readonly (number | null)[];
  readonly version?: readonly (string | null)[];
}

/**
 * @param path path and query string, such as `/data/watch?variableId=1`.
 * @param lastEventId value of Last-Event-ID, which a browser sends to resume a stream.
 */
export async function openEventStream(
  origin: string,
  path: string,
  { token, lastEventId }: { readonly token: string | undefined; readonly lastEventId?: string | undefined },
): Promise<EventStream> {
  const leaving = new AbortController();
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  };
  const response = await fetch(origin + path, { headers, signal: leaving.signal });
  const events: ReceivedEvent[] = [];
  const points: WatchedEventPoint[] = [];
  const refusal = response.ok ? undefined : ((await response.json()) as EventStream['refusal']);
  let isClosed = !response.ok;
  const receive = async (): Promise<void> => {
    let text = '';
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const blocks = (text + piece).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const received = parseEvent(block);
        events.push(received);
        if (received.event !== 'points') continue;
        for (const columns of received.data as Columns[]) points.push(...toPoints(columns));
      }
    }
  };
  if (response.ok) {
    void receive()
      .catch(() => {})
      .finally(() => {
        isClosed = true;
      });
  }
  return {
    ...{ status: response.status, headers: response.headers, refusal, points: () => points, events: () => events },
    cursor: () => events.findLast(({ id }) => id !== undefined)?.id,
    begun: () => eventually('the first event', async () => events.length > 0).then(() => {}),
    until: (count) => eventually(`${count} points`, async () => (points.length >= count ? points : undefined)),
    ended: () => eventually('the event end', async () => events.find(({ event }) => event === 'end')),
    closed: () => eventually('the end of the answer', async () => isClosed),
    isClosed: () => isClosed,
    close: () => leaving.abort(),
  };
}

function parseEvent(block: string): ReceivedEvent {
  const fields = new Map(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  return { event: fields.get('event') ?? '', id: fields.get('id'), data: JSON.parse(fields.get('data') ?? 'null') };
}

function toPoints({ variableId, date, rawValue, version }: Columns) {
  return date.map((_, row) => ({ variableId, value: rawValue[row] ?? Number.NaN, version: version?.[row] ?? null }));
}
