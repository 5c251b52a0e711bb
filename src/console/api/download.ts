/** GET requests without openapi-fetch: points in Arrow format, the stream of new points, and files to show or save. */
import { settings } from '../session/settings.ts';
import { ApiError, fetchWithToken } from './client.ts';

/** Query parameters of a call, named as in the API description; undefined ones are not sent. */
export type PointQuery = Readonly<Record<string, string | number | boolean | undefined>>;

/** @returns the URL of a call with its query. */
export function pointAddress(path: string, query: PointQuery): string {
  const address = new URL(settings.api + path);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) address.searchParams.set(name, String(value));
  }
  return address.href;
}

/**
 * Sends a GET request. @param path path relative to the API's URL.
 * @throws {ApiError} when the API refuses the call or cannot be reached.
 */
export async function fetchPoints(path: string, query: PointQuery, signal?: AbortSignal): Promise<Response> {
  const request = new Request(pointAddress(path, query), signal ? { signal } : {});
  const response = await fetchWithToken(request);
  if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => ({})));
  return response;
}

/** Saves the answer to a query as a download. @throws {ApiError} unless the call succeeded. */
export async function savePoints(path: string, query: PointQuery, fileName: string): Promise<void> {
  saveBlob(await (await fetchPoints(path, query)).blob(), fileName);
}

/**
 * Saves the answer to a call as a download.
 * @param path path relative to the API's URL, with the query.
 * @throws {ApiError} unless the call succeeded.
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
