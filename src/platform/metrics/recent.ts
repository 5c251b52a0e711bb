/**
 * Returns a function that caches a slow measurement: `read` runs at most once per `maxAgeMs`, and never twice at the
 * same time. The returned function resolves to the latest value, or to undefined when `read` failed or took longer than
 * `timeoutMs`. A `read` that took too long continues, and later calls of the function wait for its end.
 */
export function recent<Value>(
  read: () => Promise<Value>,
  { maxAgeMs, timeoutMs }: { readonly maxAgeMs: number; readonly timeoutMs: number },
): () => Promise<Value | undefined> {
  let last: Value | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<Value | undefined> | undefined;
  const readOnce = async (): Promise<Value | undefined> => {
    last = await read().catch(() => undefined);
    readAtMs = performance.now();
    reading = undefined;
    return last;
  };
  return async () => {
    if (performance.now() - readAtMs < maxAgeMs) return last;
    reading ??= readOnce();
    return within(reading, timeoutMs);
  };
}

async function within<Value>(work: Promise<Value>, timeoutMs: number): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
