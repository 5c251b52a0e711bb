/** Round trips: POST of a user and PUT of the account accept the body that GET returned, and change nothing (R-C). */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isStorableText } from '../../../src/platform/database/storable-text.ts';
import { addPerson } from '../../support/fixtures/people.ts';
import { createStructure } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

let api: TestApi;
let uma: string;
let siteId: number;
let sourceId: number;
beforeAll(async () => {
  api = await startTestApi({ API_RATE_PER_MINUTE: '0' });
  ({ siteId, sourceId } = await createStructure(api.manager));
  uma = await addPerson(api, 'uma');
});
afterAll(() => api.close());

type Body = Readonly<Record<string, unknown>>;

const text = (maxLength = 200) => fc.string({ unit: 'binary', maxLength }).filter(isStorableText);
const anyText = fc.oneof(
  text(),
  fc.constantFrom(
    '',
    ' ',
    '😀👩‍👩‍👧‍👦',
    'שלום',
    'مرحبا',
    'e\u0301',
    '\u202Egnp',
    'a\r\nb',
    "'; drop table app_user --",
    '%_\\',
    '‮',
    '𝕏',
  ),
);
const name = anyText.filter((value) => value.trim() !== '');
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { freq: 4, nil: null });
const LANGUAGES = ['en', 'fr', 'nl', 'de', 'es', 'pl'];
const email = fc.constantFrom(
  'a@x.example',
  'A+b.c@münchen.example',
  'ä@x.example',
  `${'l'.repeat(64)}@${'d'.repeat(180)}.example`,
);

describe('accounts: round trip of a user', () => {
  const user = fc.record(
    {
      pseudo: optional(anyText),
      firstName: optional(anyText),
      lastName: optional(anyText),
      phoneNumber: optional(anyText),
      email: optional(email),
      language: fc.constantFrom(...LANGUAGES),
      claims: fc.array(fc.record({ claimType: name, claimValue: anyText }), { maxLength: 5 }),
      features: fc.array(
        fc.record({ id: fc.integer({ min: 1, max: 8 }), level: fc.constantFrom('None', 'Read', 'Write', 'Admin') }),
        { maxLength: 4 },
      ),
      sites: fc.constantFrom([], [{ level: 'Read' }], [{ level: 'Admin', sourceIds: [] }]),
      businessKeys: fc.record({ businessId: optional(anyText) }),
    },
    { requiredKeys: [] },
  );

  it('a POST with the body that GET returned changes nothing (R-C, R-C2)', async () => {
    await fc.assert(
      fc.asyncProperty(user, async (written) => {
        const path = `/account/user/${uma}`;
        const sites = written.sites?.map((site) => ({ ...site, siteId }));
        const saved = await api.manager.post<Body>(path, { ...written, sites });
        expect(saved.status).toBe(200);
        for (const member of ['pseudo', 'firstName', 'lastName', 'phoneNumber', 'email'] as const) {
          if (written[member] !== undefined) expect(saved.body[member]).toBe(written[member]);
        }
        const shown = (await api.manager.get<Body>(path)).body;
        expect(shown).toEqual(saved.body);
        expect(await api.manager.post(path, shown)).toMatchObject({ status: 200, body: shown });
        expect((await api.manager.get(path)).body).toEqual(shown);
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  it('for a user with 1,500 sites and 1,500 claims, one POST accepts the body that GET returned (R-C, R-C2)', async () => {
    const path = `/account/user/${uma}`;
    await api.database.query(
      `with made as (insert into site (account_id, name, time_zone_id) select $1, 'Site ' || i, 'UTC'
                     from generate_series(1, 1500) i returning id)
       insert into site_access (user_id, site_id, level) select $2, id, 'Read' from made`,
      [api.accountId, uma],
    );
    await api.database.query(
      `insert into user_claim (account_id, user_id, claim_type, claim_value)
       select $1, $2, 'claim ' || i, 'x' from generate_series(1, 1500) i`,
      [api.accountId, uma],
    );
    const shown = (await api.manager.get<{ sites: unknown[]; claims: unknown[] }>(path)).body;
    expect(shown.sites.length).toBeGreaterThan(1499);
    expect(shown.claims.length).toBeGreaterThan(1499);
    expect(await api.manager.post(path, shown)).toMatchObject({ status: 200, body: shown });
  });

  it('access to a site is returned with the `sourceIds` that were granted, and POST of the returned user changes nothing (R-C3)', async () => {
    const path = `/account/user/${uma}`;
    const sites = [{ siteId: String(siteId), level: 2, sourceIds: [String(sourceId)] }];
    const saved = await api.manager.post<Body>(path, { sites });
    expect(saved.body.sites).toEqual([{ siteId, level: 'Write', sourceIds: [sourceId] }]);
    expect(await api.manager.post(path, saved.body)).toMatchObject({ status: 200, body: saved.body });
  });
});

describe('accounts: round trip of the account', () => {
  const account = fc.record(
    {
      name: name.map((value) => value.trim()).filter((value) => value !== ''),
      language: fc.constantFrom(...LANGUAGES),
      timeZoneId: fc.constantFrom('UTC', 'Europe/Brussels', 'Romance Standard Time', 'Asia/Kolkata', 'etc/gmt+5'),
      currency: optional(fc.constantFrom('EUR', 'chf')),
      smsSettings: optional(fc.record({ senderName: optional(anyText) }, { requiredKeys: [] })),
      emailSettings: optional(
        fc.record({ senderName: optional(anyText), replyTo: optional(email) }, { requiredKeys: [] }),
      ),
      versionLimit: fc.integer({ min: 1, max: 1000 }),
    },
    { requiredKeys: [] },
  );

  it('at every displayLevel, PUT with the body that GET returned changes nothing (R-C, R-C1)', async () => {
    await fc.assert(
      fc.asyncProperty(account, fc.constantFrom('Light', 'Normal', 'Verbose', '1'), async (written, level) => {
        const path = `/account?displayLevel=${level}`;
        expect(await api.manager.put('/account', written)).toMatchObject({ status: 200 });
        const shown = (await api.manager.get<Body>(path)).body;
        const whole = (await api.manager.get<Body>('/account?displayLevel=Verbose')).body;
        if (written.name !== undefined) expect(shown.name).toBe(written.name);
        expect(await api.manager.put('/account', shown)).toMatchObject({ status: 200 });
        expect((await api.manager.get(path)).body).toEqual(shown);
        expect((await api.manager.get('/account?displayLevel=Verbose')).body).toEqual(whole);
      }),
      { numRuns: 60 },
    );
  }, 60_000);
});
