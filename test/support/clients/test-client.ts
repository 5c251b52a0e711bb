/** A REST client for tests. Each call returns the status, the headers and the parsed body of the answer. */
import type { CheckAnswer } from '../answers/described-answers.ts';

/** @param Body the type that the test expects the parsed body to have. */
export interface TestAnswer<Body> {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body: text when the media type is not JSON, undefined when the body is empty. */
  readonly body: Body;
}

const JSON_TYPE = 'application/json';

type Headered = Readonly<Record<string, string>>;

export interface SendOptions {
  readonly headers?: Headered;
  /** A body that is sent as it is, not as JSON. */
  readonly raw?: string | Uint8Array<ArrayBuffer>;
}

export interface TestClient {
  readonly token: string | undefined;
  send<Body = unknown>(method: string, path: string, body?: unknown, options?: SendOptions): Promise<TestAnswer<Body>>;
  get<Body = unknown>(path: string, headers?: Headered): Promise<TestAnswer<Body>>;
  post<Body = unknown>(path: string, body: unknown, headers?: Headered): Promise<TestAnswer<Body>>;
  put(path: string, body: unknown): Promise<TestAnswer<unknown>>;
  patch(path: string, operations: unknown): Promise<TestAnswer<unknown>>;
  delete(path: string): Promise<TestAnswer<unknown>>;
}

/**
 * @param token access token that the client sends with every request; undefined for a client without credentials.
 * @param check function that the client calls with every answer.
 */
export function createTestClient(origin: string, token?: string, check: CheckAnswer = () => {}): TestClient {
  const send = async <Body>(method: string, path: string, body?: unknown, options: SendOptions = {}) => {
    const { headers = {}, raw } = options;
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(origin + path, {
      method,
      redirect: 'error',
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload !== undefined && { body: payload }),
    });
    const text = await response.text();
    const parsed = parseBody(text, response.headers) as Body;
    const answer = { status: response.status, headers: response.headers, body: parsed };
    check({ method, path, ...answer });
    return answer;
  };
  return {
    token,
    send,
    get: (path, headers = {}) => send('GET', path, undefined, { headers }),
    post: (path, body, headers = {}) => send('POST', path, body, { headers }),
    put: (path, body) => send('PUT', path, body),
    patch: (path, operations) =>
      send('PATCH', path, operations, { headers: { 'content-type': 'application/json-patch+json' } }),
    delete: (path) => send('DELETE', path),
  };
}

/** Parses a body. A body without a media type is parsed as JSON, so a test fails when such a body is not JSON. */
function parseBody(text: string, headers: Headers): unknown {
  if (text === '') return undefined;
  const type = headers.get('content-type')?.split(';', 1)[0]?.trim() ?? JSON_TYPE;
  return type === JSON_TYPE || type.endsWith('+json') ? JSON.parse(text) : text;
}

/**
 * @returns an access token of the embedded issuer.
 * @throws {Error} when the issuer refuses the sign-in. The message contains the answer of the issuer.
 */
export async function requestToken(origin: string, form: Readonly<Record<string, string>>): Promise<string> {
  const response = await fetch(`${origin}/realms/tidemark/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  const answer = (await response.json()) as { readonly access_token?: string };
  if (answer.access_token === undefined) throw new Error(`no token: ${JSON.stringify(answer)}`);
  return answer.access_token;
}
