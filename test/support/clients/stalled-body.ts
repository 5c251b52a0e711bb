/** Opens requests whose body stalls. This module works without a test runner. */
import { type ClientRequest, request } from 'node:http';

export interface StalledBody {
  /** URL of the POST request. */
  readonly url: string;
  readonly token: string | undefined;
  readonly type: string;
  readonly announcedBytes: number;
  readonly sentBytes: number;
}

/** Opens a connection for one request, announces a body, sends the beginning of the body and then nothing more. */
export function openStalledBody({ url, token, type, announcedBytes, sentBytes }: StalledBody): ClientRequest {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': type, 'Content-Length': announcedBytes };
  const body = request(url, { method: 'POST', headers, agent: false });
  body.on('error', () => {}).on('response', (answer) => answer.resume());
  body.write(Buffer.alloc(sentBytes, ' '));
  return body;
}
