/** A page of another origin may read answers only when CORS_ORIGINS contains the origin of the page. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStructure } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const ORIGIN = 'https://app.example.com';

let api: TestApi;
let closed: TestApi;
let variableId: number;
beforeAll(async () => {
  [api, closed] = await Promise.all([startTestApi({ CORS_ORIGINS: `${ORIGIN},https://b.example` }), startTestApi()]);
  ({ variableId } = await createStructure(api.manager));
}, 30_000);
afterAll(() => Promise.all([api?.close(), closed?.close()]));

const preflight = (server: TestApi, path: string, origin: string) =>
  fetch(server.origin + path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,api-version',
    },
  });

describe('cross-origin requests: CORS_ORIGINS', () => {
  it.each(['/data', '/api/data', '/sites/1'])('a preflight from a listed origin to %s needs no token', async (path) => {
    const { status, headers } = await preflight(api, path, ORIGIN);
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(headers.get('access-control-allow-headers')).toBe('authorization,content-type,api-version');
    expect(headers.get('access-control-allow-methods')?.split(',')).toEqual(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
    expect(headers.get('access-control-max-age')).toBe('7200');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });

  it('pages of a listed origin may read answers and errors, including the headers that the service sets', async () => {
    const headers = { origin: ORIGIN };
    const pushed = await api.manager.post('/api/data', [{ variableId, data: [] }], headers);
    for (const answer of [
      pushed,
      await api.manager.get('/sites', headers),
      await api.manager.get('/nowhere', headers),
    ]) {
      expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(answer.headers.get('access-control-expose-headers')?.split(',')).toEqual(
        expect.arrayContaining([
          'Api-Version',
          'X-Request-Id',
          'x-total-count',
          'Time-Zone',
          'Retry-After',
          'Location',
          ...['History-From', 'Raw-From', 'Content-Disposition', 'WWW-Authenticate', 'File-Kind', 'File-Advice'],
          ...['Warning', 'Deprecation', 'ETag'],
        ]),
      );
      expect(answer.headers.get('vary')).toContain('Origin');
    }
  });

  it('answers to requests and to preflights never permit an origin outside CORS_ORIGINS, even when CORS_ORIGINS is empty', async () => {
    for (const [server, origin] of [
      [api, 'https://evil.example'],
      [api, `${ORIGIN}.evil.example`],
      [closed, ORIGIN],
    ] as const) {
      const { headers } = await server.manager.get('/sites', { origin });
      expect(headers.get('access-control-allow-origin')).toBeNull();
      expect((await preflight(server, '/data', origin)).headers.get('access-control-allow-origin')).toBeNull();
    }
  });
});
