/**
 * Reads server-sent events from a response to `fetch`. `EventSource` cannot send the access token: it sends cookies but
 * cannot set the header Authorization, and the console keeps the token in memory, not in a cookie.
 */

export interface ServerEvent {
  readonly event: string;
  /** Cursor of the event; undefined when the event has no cursor. */
  readonly id: string | undefined;
  readonly data: unknown;
}

/** Yields events with JSON data until the response ends. @throws when the connection breaks or data are not JSON. */
export async function* readEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (text + value).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) yield parseEvent(block);
  }
}

function parseEvent(block: string): ServerEvent {
  const fields = new Map(
    block.split('\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trimStart()] as const;
    }),
  );
  return {
    event: fields.get('event') ?? 'message',
    id: fields.get('id'),
    data: JSON.parse(fields.get('data') ?? 'null'),
  };
}
