/** Requests of points outside openapi-fetch: Arrow for charts, and files to save. */
import { settings } from '../session/settings.ts';
import { ApiError, fetchWithToken } from './client.ts';

/** Query of `GET /data` and `GET /data/compare`: names as in the API description; undefined members are left out. */
export type PointQuery = Readonly<Record<string, string | number | boolean | undefined>>;

/** @returns the address of a call that reads points. */
export function pointAddress(path: string, query: PointQuery): string {
  const address = new URL(settings.api + path);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) address.searchParams.set(name, String(value));
  }
  return address.href;
}

/** Requests points in the format that the query names. @throws {ApiError} unless the call succeeded. */
export async function fetchPoints(path: string, query: PointQuery, signal?: AbortSignal): Promise<Response> {
  const request = new Request(pointAddress(path, query), signal ? { signal } : {});
  const response = await fetchWithToken(request);
  if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => ({})));
  return response;
}

/** Requests points and saves them as a download. @throws {ApiError} unless the call succeeded. */
export async function savePoints(path: string, query: PointQuery, fileName: string): Promise<void> {
  saveBlob(await (await fetchPoints(path, query)).blob(), fileName);
}

/** Saves the answer of a call. @param path path and query below the API. @throws {ApiError} unless the call succeeded. */
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
