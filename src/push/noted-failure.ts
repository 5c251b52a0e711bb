/** Hands a failure met in front of the app to the app, which says it to the client as it says its own. */
import type { IncomingMessage } from 'node:http';

const failures = new WeakMap<IncomingMessage, unknown>();

export function noteFailure(incoming: IncomingMessage, error: unknown): void {
  failures.set(incoming, error);
}

/** @throws what was noted for the request, if anything was. */
export function throwNotedFailure(env: unknown): void {
  const { incoming } = (env ?? {}) as { readonly incoming?: IncomingMessage };
  if (incoming && failures.has(incoming)) throw failures.get(incoming);
}
