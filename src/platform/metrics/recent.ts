/** What is asked for more often than it is worth looking at, or takes longer than one may wait. */

/**
 * Looks at most every `maxAgeMs`, once at a time; what fails, or does not come within `timeoutMs`, is undefined.
 * A look that was given up goes on, and nobody begins another one meanwhile.
 */
export function recent<Value>(
  look: () => Promise<Value>,
  { maxAgeMs, timeoutMs }: { readonly maxAgeMs: number; readonly timeoutMs: number },
): () => Promise<Value | undefined> {
  let last: Value | undefined;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let looking: Promise<Value | undefined> | undefined;
  const lookOnce = async (): Promise<Value | undefined> => {
    last = await look().catch(() => undefined);
    lookedAtMs = performance.now();
    looking = undefined;
    return last;
  };
  return async () => {
    if (performance.now() - lookedAtMs < maxAgeMs) return last;
    looking ??= lookOnce();
    return within(looking, timeoutMs);
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
