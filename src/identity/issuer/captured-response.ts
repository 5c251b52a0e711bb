/**
 * Runs a Node request handler and returns a web `Response`, so that middleware (headers, logs, compression) treats the
 * handler like any other route. The answer is held in memory: for small answers only.
 */
import { type IncomingMessage, ServerResponse } from 'node:http';

type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Runs `handle` and returns its answer. `handle` must end the response before the promise of `handle` resolves.
 * @throws the error given to `failCapturedResponse`.
 */
export async function captureResponse(handle: NodeHandler, request: IncomingMessage): Promise<Response> {
  const response = new CapturedResponse(request);
  await handle(request, response);
  if (response.failure !== undefined) throw response.failure.error;
  return response.toResponse();
}

/**
 * Makes the pending `captureResponse` call for `response` throw `error`.
 * @throws `error` immediately when `response` does not come from `captureResponse`.
 */
export function failCapturedResponse(response: ServerResponse, error: unknown): void {
  if (!(response instanceof CapturedResponse)) throw error;
  response.failure = { error };
}

/** A server response that keeps the written bytes instead of sending them. */
class CapturedResponse extends ServerResponse {
  failure: { readonly error: unknown } | undefined;
  readonly #chunks: Buffer[] = [];

  override write(chunk: unknown): boolean {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) this.#chunks.push(Buffer.from(chunk));
    return true;
  }

  override end(chunk?: unknown): this {
    this.write(chunk);
    return this;
  }

  toResponse(): Response {
    const headers = new Headers();
    for (const [name, value] of Object.entries(this.getHeaders())) {
      for (const item of [value ?? []].flat()) headers.append(name, String(item));
    }
    // The server sets Content-Length itself; the length of the uncompressed body would be wrong after compression.
    headers.delete('content-length');
    const body = this.#chunks.length > 0 ? new Uint8Array(Buffer.concat(this.#chunks)) : null;
    return new Response(body, { status: this.statusCode, headers });
  }
}
