/** Server-sent events over fetch, because EventSource cannot send the token in a header. */
import { settings } from '../session/settings.ts';
import { ApiError, fetchWithToken } from './client.ts';

export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * Yields the events of a call until the server ends the stream. Throws when `signal` aborts or the connection breaks.
 * @param path path below the API. @throws {ApiError} when the API refuses the call or cannot be reached.
 */
export async function* readEvents(path: string, signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const headers = { Accept: 'text/event-stream' };
  const response = await fetchWithToken(new Request(settings.api + path, { headers, signal }));
  if (!response.ok || !response.body) throw new ApiError(response.status, await response.json().catch(() => ({})));
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = (text + chunk).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event) yield event;
    }
  }
}

/** @returns the event, or undefined for a block without data, such as a comment that keeps the connection open. */
function parseEvent(block: string): ServerEvent | undefined {
  let event = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) event = line.slice(6).trim();
    else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
  }
  return data.length === 0 ? undefined : { event, data: data.join('\n') };
}
