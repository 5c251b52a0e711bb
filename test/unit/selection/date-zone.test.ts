import { Hono } from 'hono';
import { describe, expect, test, vi } from 'vitest';
import type { Caller } from '../../../src/identity/caller/caller.ts';
import type { Queryable } from '../../../src/platform/database/database.ts';
import { setDateZone, settleDates } from '../../../src/selection/date-zone.ts';
import type { Zoned } from '../../../src/selection/read-request.ts';

const CALLER = { accountId: 7 } as Caller;
const LOCAL: Zoned<string> = {
  zone: undefined,
  hasLocalDates: true,
  sourceIds: [3],
  variableIds: [4, 5],
  in: (zone) => `dates in ${zone}`,
};

/** Makes a database that returns `zones` as the time zones of the sources in a read. */
function sourcesIn(...zones: readonly string[]) {
  const query = vi.fn(async (_text: string, _values: readonly unknown[]) => ({
    rows: zones.map((zone) => ({ zone })),
  }));
  return { queryable: { query } as unknown as Queryable, query };
}

describe('reads: the time zone for dates that are given without a time zone (R-A11)', () => {
  test('when every date has its own zone, the zone of the source is not looked up', async () => {
    const { queryable, query } = sourcesIn('Europe/Brussels');
    const settled = await settleDates(queryable, CALLER, { ...LOCAL, zone: 'Asia/Tokyo', hasLocalDates: false });
    expect(settled).toEqual({ request: 'dates in undefined', dateZone: undefined });
    expect(query).not.toHaveBeenCalled();
  });

  test('timeZoneId takes precedence over the zone of the source', async () => {
    const { queryable, query } = sourcesIn('Europe/Brussels');
    const settled = await settleDates(queryable, CALLER, { ...LOCAL, zone: 'Asia/Tokyo' });
    expect(settled).toEqual({ request: 'dates in Asia/Tokyo', dateZone: 'Asia/Tokyo' });
    expect(query).not.toHaveBeenCalled();
  });

  test.each([
    ['no source', 'UTC', []],
    ['one source in Europe/Brussels', 'Europe/Brussels', ['Europe/Brussels']],
    ['two sources in Europe/Brussels', 'UTC', ['Europe/Brussels', 'Europe/Brussels']],
  ])('when a read has %s, this time zone is %s', async (_sources, zone, zones) => {
    const { queryable, query } = sourcesIn(...zones);
    const settled = await settleDates(queryable, CALLER, LOCAL);
    expect(settled).toEqual({ request: `dates in ${zone}`, dateZone: zone });
    // The values of the query: the caller's account, and the variables, sources and sites that the read names.
    expect(query.mock.calls.map(([, values]) => values)).toEqual([[7, [4, 5], [3], []]]);
  });

  test('the header Time-Zone names the zone that was applied', async () => {
    const app = new Hono().get('/:zone?', (c) => {
      setDateZone(c, c.req.param('zone'));
      return c.text('');
    });
    expect((await app.request('/UTC')).headers.get('Time-Zone')).toBe('UTC');
    expect((await app.request('/')).headers.has('Time-Zone')).toBe(false);
  });
});
