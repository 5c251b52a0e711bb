/** Typed calls to the API, and the error of a failed call. The types are generated from the OpenAPI document. */
import i18next from 'i18next';
import createClient from 'openapi-fetch';
import { settings } from '../session/settings.ts';
import { accessToken, signIn } from '../session/sign-in.ts';
import type { paths } from './openapi.d.ts';

/** A failed call: the API answered with an error, or the server was not reached. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status of the answer; 0 when the server was not reached. */
  readonly status: number;
  readonly code: string;
  readonly details: readonly { readonly path: string; readonly message: string }[];
  readonly requestId: string | undefined;

  constructor(status: number, body: Partial<ErrorBody>) {
    super(body.message ?? `HTTP ${status}`);
    this.status = status;
    this.code = body.code ?? 'unknown';
    this.details = body.details ?? [];
    this.requestId = body.requestId;
  }
}

interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly details: readonly { readonly path: string; readonly message: string }[];
  readonly requestId: string;
}

interface Result<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * Calls `fetch` with the caller's token. When the answer is 401, redirects the browser to the issuer for a new sign-in.
 * @throws {ApiError} when the server cannot be reached; an AbortError when the request is aborted.
 */
export async function fetchWithToken(request: Request): Promise<Response> {
  const token = await accessToken();
  if (token !== undefined) request.headers.set('Authorization', `Bearer ${token}`);
  const response = await fetch(request).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, { code: 'unreachable', message: i18next.t('problem.unreachable') });
  });
  if (response.status === 401) await signIn();
  return response;
}

/** Typed client of the API. A list in a query is sent as a repeated parameter. */
export const api = createClient<paths>({
  baseUrl: settings.api,
  fetch: fetchWithToken,
  headers: { Accept: 'application/json' },
});

/**
 * @returns the body of an answer.
 * @throws {ApiError} when the API refuses the call or cannot be reached; an AbortError when the call is aborted.
 */
export async function bodyOf<Data>(call: Promise<Result<Data>>): Promise<Data> {
  return (await answerOf(call)).body;
}

/**
 * @returns the body, and the number of items on all pages. The number is NaN when the API did not send it.
 * @throws {ApiError} when the API refuses the call or cannot be reached; an AbortError when the call is aborted.
 */
export async function answerOf<Data>(
  call: Promise<Result<Data>>,
): Promise<{ readonly body: Data; readonly total: number }> {
  const { data, error, response } = await call;
  if (!response.ok) throw new ApiError(response.status, toErrorBody(error));
  return { body: data as Data, total: Number(response.headers.get('x-total-count') ?? Number.NaN) };
}

function toErrorBody(error: unknown): Partial<ErrorBody> {
  return typeof error === 'object' && error !== null ? error : {};
}
