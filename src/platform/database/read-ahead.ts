/**
 * Reads items ahead of their consumer into bounded memory, so that the producer can end, and free its database
 * connection, before a slow consumer ends. When the memory is used up, the producer waits until the consumer has taken
 * every item in memory.
 */

/** Memory budget for reading ahead; all reads of an account share it. */
export interface ReadAheadBudget {
  /** Takes `bytes` from the budget. @returns false, and takes nothing, when the budget has fewer bytes left. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

export interface ReadAhead {
  /** Maximum number of bytes that one read may read ahead. */
  readonly maxBytes: number;
  readonly budget: ReadAheadBudget;
}

/** Estimated memory of an item without its typed arrays, in bytes. */
const ITEM_BYTES = 512;

/** @returns the estimated memory of an item: the bytes of its typed arrays plus ITEM_BYTES. */
export function columnBytes(item: unknown): number {
  let bytes = ITEM_BYTES;
  if (typeof item !== 'object' || item === null) return bytes;
  for (const column of Object.values(item)) if (ArrayBuffer.isView(column)) bytes += column.byteLength;
  return bytes;
}

/**
 * Yields the items of `start` in order. `start` gets a signal that aborts when `signal` aborts or the consumer stops
 * early.
 * @throws the error of `start`, after yielding the items that precede the error. If `signal` has aborted, the thrown
 *   error is usually `signal.reason`.
 */
export async function* readAhead<Item>(
  start: (signal: AbortSignal) => AsyncIterable<Item>,
  { maxBytes, budget }: ReadAhead,
  signal?: AbortSignal,
): AsyncGenerator<Item> {
  const leaving = new AbortController();
  const leave = (): void => leaving.abort(signal?.reason);
  if (signal?.aborted) leave();
  else signal?.addEventListener('abort', leave, { once: true });
  const queue: { readonly item: Item; readonly paidBytes: number }[] = [];
  let bufferedBytes = 0;
  let outcome: { readonly error?: unknown } | undefined;
  let wakeConsumer = (): void => {};
  let wakeProducer = (): void => {};
  const produce = async (): Promise<void> => {
    for await (const item of start(leaving.signal)) {
      leaving.signal.throwIfAborted();
      const bytes = columnBytes(item);
      const isPaid = bufferedBytes + bytes <= maxBytes && budget.take(bytes);
      if (isPaid) bufferedBytes += bytes;
      queue.push({ item, paidBytes: isPaid ? bytes : 0 });
      wakeConsumer();
      if (isPaid) continue;
      await new Promise<void>((resolve) => {
        wakeProducer = resolve;
      });
    }
  };
  const pay = ({ paidBytes }: { readonly paidBytes: number }): void => {
    bufferedBytes -= paidBytes;
    budget.give(paidBytes);
  };
  const producing = produce().then(
    () => {
      outcome = {};
      wakeConsumer();
    },
    (error: unknown) => {
      outcome = { error };
      wakeConsumer();
    },
  );
  try {
    for (;;) {
      const next = queue.shift();
      if (next) {
        pay(next);
        // A producer that has used up its memory budget pauses until the consumer has taken every item.
        if (queue.length === 0) wakeProducer();
        yield next.item;
      } else if (outcome) {
        if ('error' in outcome) throw outcome.error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          wakeConsumer = resolve;
        });
      }
    }
  } finally {
    signal?.removeEventListener('abort', leave);
    for (const item of queue.splice(0)) pay(item);
    if (!outcome) leaving.abort(new Error('the consumer stopped reading before the end'));
    wakeProducer();
    await producing;
  }
}
