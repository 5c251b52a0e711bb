/**
 * Sends GET requests without openapi-fetch. These requests get points in Arrow format, the stream of new points, and
 * files that the console shows or saves.
 */
import { settings } from '../session/settings.ts';
import { ApiError, fetchWithToken } from './client.ts';

/**
 * Query parameters of a call, named as in the API description. A list is sent as a repeated parameter. A parameter whose
 * value is undefined is not sent.
 */
export type PointQuery = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** @returns the URL of the API, followed by `path` and the parameters of `query`. */
export function pointAddress(path: string, query: PointQuery): string {
  const address = new URL(settings.api + path);
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value ?? []].flat()) address.searchParams.append(name, String(each));
  }
  return address.href;
}

/**
 * Sends a GET request. @param path path relative to the API's URL.
 * @throws {ApiError} when the API refuses the call or cannot be reached; an AbortError when `signal` aborts.
 */
export async function fetchPoints(path: string, query: PointQuery, signal?: AbortSignal): Promise<Response> {
  const request = new Request(pointAddress(path, query), signal ? { signal } : {});
  const response = await fetchWithToken(request);
  if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => ({})));
  return response;
}

/**
 * Sends a GET request and saves the answer as a download. @param path path relative to the API's URL.
 * @throws {ApiError} when the API refuses the call or cannot be reached.
 */
export async function savePoints(path: string, query: PointQuery, fileName: string): Promise<void> {
  saveBlob(await (await fetchPoints(path, query)).blob(), fileName);
}

/**
 * Sends a GET request and saves the answer as a download.
 * @param path path relative to the API's URL, with the query.
 * @throws {ApiError} when the API refuses the call or cannot be reached.
 */
export async function saveAnswer(path: string, fileName: string): Promise<void> {
  await savePoints(path, {}, fileName);
}

function saveBlob(blob: Blob, fileName: string): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
