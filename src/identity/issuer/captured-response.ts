/**
 * Lets a Node request handler answer with a web `Response`, so that the middleware around it (headers, logs, compression)
 * treats it like any other route. For small answers: they are held in memory.
 */
import { type IncomingMessage, ServerResponse } from 'node:http';

type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Runs `handle`, which must have ended its response when it resolves. */
export async function captureResponse(handle: NodeHandler, request: IncomingMessage): Promise<Response> {
  const response = new CapturedResponse(request);
  await handle(request, response);
  return response.toResponse();
}

/** A response that belongs to no socket. */
class CapturedResponse extends ServerResponse {
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
    // Whoever sends the body knows its length; compression on the way would make this one wrong.
    headers.delete('content-length');
    const body = this.#chunks.length > 0 ? new Uint8Array(Buffer.concat(this.#chunks)) : null;
    return new Response(body, { status: this.statusCode, headers });
  }
}
