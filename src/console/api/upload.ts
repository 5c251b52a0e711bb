/** Sends a file with XMLHttpRequest, because `fetch` does not report the progress of an upload. */
import i18next from 'i18next';
import { settings } from '../session/settings.ts';
import { accessToken } from '../session/sign-in.ts';
import { ApiError } from './client.ts';

/**
 * Posts a file as the body of a call.
 * @param path the URL below the API's base URL, query included. @param onProgress gets the fraction sent, from 0 to 1.
 * @returns the body of the answer. @throws {ApiError} unless the call succeeded.
 */
export async function sendFile<Answer>(
  path: string,
  file: Blob,
  type: string,
  onProgress: (part: number) => void,
): Promise<Answer> {
  const token = await accessToken();
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', settings.api + path);
    request.setRequestHeader('Content-Type', type);
    request.setRequestHeader('Accept', 'application/json');
    if (token !== undefined) request.setRequestHeader('Authorization', `Bearer ${token}`);
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total);
    request.onerror = () => reject(new ApiError(0, { code: 'unreachable', message: i18next.t('problem.unreachable') }));
    request.onload = () => {
      const body = parse(request.responseText);
      if (request.status < 300) resolve(body as Answer);
      else reject(new ApiError(request.status, typeof body === 'object' && body !== null ? body : {}));
    };
    request.send(file);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
