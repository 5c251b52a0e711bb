/** Requests whose body stalls. Needs no test runner. */
import { type ClientRequest, request } from 'node:http';

export interface StalledBody {
  /** URL of the POST request. */
  readonly url: string;
  readonly token: string | undefined;
  readonly type: string;
  readonly announcedBytes: number;
  readonly sentBytes: number;
}

/** Announces a body, sends the beginning of it and stalls, on a connection of its own. */
export function openStalledBody({ url, token, type, announcedBytes, sentBytes }: StalledBody): ClientRequest {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': type, 'Content-Length': announcedBytes };
  const body = request(url, { method: 'POST', headers, agent: false });
  body.on('error', () => {}).on('response', (answer) => answer.resume());
  body.write(Buffer.alloc(sentBytes, ' '));
  return body;
}
