import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { emailSchema, languageSchema, roleSchema } from '../../../src/accounts/field-schemas.ts';
import { ACCOUNT_MAIL_TEXTS } from '../../../src/accounts/mails/account-mail-texts.ts';
import {
  type Changed,
  type Changer,
  highestRole,
  planRoleGrant,
  planUserChange,
  type RoleName,
} from '../../../src/accounts/users/user-rules.ts';
import { planRequest } from '../../../src/http/rate-rules.ts';
import { type KeyAge, planSigningKeys } from '../../../src/identity/keys/signing-key-rules.ts';
import { choosePageLanguage, PAGE_TEXTS } from '../../../src/identity/pages/texts/page-texts.ts';
import { PASSWORD_MAIL_TEXTS } from '../../../src/identity/passwords/password-mail-texts.ts';
import { findPasswordProblem } from '../../../src/identity/passwords/password-rules.ts';
import { networkOf } from '../../../src/platform/address-ranges.ts';
import { renderMail } from '../../../src/platform/mail/mail-render.ts';
import { MAIL_LANGUAGES, type MailTexts, toMailLanguage } from '../../../src/platform/mail/mail-text.ts';
import { WEBHOOK_MAIL_TEXTS } from '../../../src/webhooks/delivery/disabled-mail-texts.ts';

const person = (role: RoleName, ...accountIds: readonly number[]): Changer & Changed => ({
  userId: role,
  role,
  accountIds,
});
const isAllowed = (changer: Changer, changed: Changed) => planUserChange(changer, changed).kind === 'allowed';

describe('accounts: the error for a refused field (R-A5)', () => {
  test.each([
    ['an email address', emailSchema, 'nobody', 'must be an email address such as name@example.com, got "nobody"'],
    ['a language', languageSchema, 'xx', 'must be an ISO 639-1 language code such as en, got "xx"'],
    ['a role', roleSchema, 'boss', 'must be one of ADMIN, MANAGER, USER, got "BOSS"'],
    ['a role without a name', roleSchema, {}, 'must be one of ADMIN, MANAGER, USER, got nothing'],
  ])('states the rule and the refused value for %s', (_field, schema, value, message) => {
    expect(schema.safeParse(value).error?.issues[0]?.message).toBe(message);
  });
});

describe('accounts: permission to change a user and to grant a role (R-B8)', () => {
  test.each([
    ['a MANAGER may change a USER of their account', person('MANAGER', 1), person('USER', 1), true],
    ['a MANAGER may change a MANAGER of the same accounts', person('MANAGER', 1, 2), person('MANAGER', 1, 2), true],
    [
      'a MANAGER may not change a USER who also belongs to another account',
      person('MANAGER', 1),
      person('USER', 1, 2),
      false,
    ],
    ['a MANAGER may change a USER who belongs to no account', person('MANAGER', 1), person('USER'), true],
    ['a MANAGER may not change an ADMIN', person('MANAGER', 1), person('ADMIN', 1), false],
    ['a USER may not change themself', person('USER', 1), person('USER', 1), false],
    ['an ADMIN may change any user', person('ADMIN'), person('ADMIN', 1, 2), true],
  ])('%s', (_case, changer, changed, allowed) => {
    expect(isAllowed(changer, changed)).toBe(allowed);
  });

  test('a MANAGER may change a USER if and only if the MANAGER is a member of all accounts of the USER (R-B8)', () => {
    const ids = fc.uniqueArray(fc.integer({ min: 1, max: 6 }));
    fc.assert(
      fc.property(ids, ids, (mine, theirs) => {
        const isSubset = theirs.every((id) => mine.includes(id));
        expect(isAllowed(person('MANAGER', ...mine), person('USER', ...theirs))).toBe(isSubset);
      }),
    );
  });

  test('no user grants a role above their own highest role (R-B8)', () => {
    const kind = (mine: RoleName, given: RoleName) => planRoleGrant({ role: mine }, given).kind;
    for (const role of ['ADMIN', 'MANAGER'] as const) expect(kind('USER', role)).toBe('refused');
    expect(kind('MANAGER', 'ADMIN')).toBe('refused');
    expect(kind('MANAGER', 'MANAGER')).toBe('allowed');
    expect(kind('ADMIN', 'ADMIN')).toBe('allowed');
    expect(highestRole(['USER', 'MANAGER'])).toBe('MANAGER');
    expect(highestRole([])).toBe('USER');
  });
});

describe('accounts: the rate limit (R-B15)', () => {
  /** @returns the instants of the requests that are allowed. */
  const pass = (instants: readonly number[], perMinute: number): readonly number[] => {
    let fullAtMs: number | undefined;
    return instants.filter((now) => {
      const decision = planRequest(fullAtMs, now, perMinute);
      fullAtMs = decision.fullAtMs;
      return decision.waitMs === 0;
    });
  };

  test('allows the number of requests per minute in a single burst; after the burst, allows requests only at an even rate and refuses the rest (R-B15)', () => {
    const burst = Array.from({ length: 12 }, () => 1000);
    expect(pass(burst, 10)).toHaveLength(10);
    expect(pass([...burst, 6999], 10)).toHaveLength(10);
    expect(pass([...burst, 7000, 7001], 10)).toHaveLength(11);
    expect(planRequest(61_000, 1000, 10).waitMs).toBe(6000);
  });

  test('a period has at most as many requests as one burst plus the rate times its length (R-B15)', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 300 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 100 }), (gaps, perMinute) => {
        let now = 0;
        const instants = gaps.map((gap) => {
          now += gap;
          return now;
        });
        const passed = pass(instants, perMinute);
        for (const [first, start] of passed.entries()) {
          const excess = passed.slice(first).map((end, index) => index + 1 - perMinute * ((end - start) / 60_000 + 1));
          expect(Math.max(...excess)).toBeLessThanOrEqual(1e-6);
        }
      }),
    );
  });

  test('a refused request is allowed when it is repeated after the announced wait (R-B15)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 0, max: 1e12 }), (perMinute, start) => {
        let fullAtMs: number | undefined;
        for (let i = 0; i <= perMinute; i++) fullAtMs = planRequest(fullAtMs, start, perMinute).fullAtMs;
        const { waitMs } = planRequest(fullAtMs, start, perMinute);
        expect(waitMs).toBeGreaterThan(0);
        expect(planRequest(fullAtMs, start + Math.ceil(waitMs), perMinute).waitMs).toBe(0);
      }),
    );
  });
});

describe('accounts: the rate-limit key of a client (R-B15)', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:51234', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:1:2::9', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::a]:443', '2001:db8:1:2::/64'],
    ['2001:db8::3:4:5:6:7', '2001:db8:0:3::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['unknown', 'unknown'],
  ])('the address %j has the key %j (R-B15)', (address, counted) => {
    expect(networkOf(address)).toBe(counted);
  });
});

describe('accounts: a chosen password (R-B11)', () => {
  const problemOf = (password: string, repeated = password) =>
    findPasswordProblem({ password, repeated, names: ['uma', 'uma@north.example', null], minLength: 10 });

  test('must be neither too short nor too long, must differ from the user’s names, and must be repeated exactly (R-B11)', () => {
    expect(problemOf('123456789')).toBe('too_short');
    expect(problemOf('👍'.repeat(9))).toBe('too_short');
    expect(problemOf('x'.repeat(201))).toBe('too_long');
    expect(problemOf('UMA@north.example')).toBe('is_name');
    expect(problemOf('correct horse', 'correct horsE')).toBe('different');
    expect(problemOf('correct horse')).toBeUndefined();
  });
});

describe('accounts: signing keys (R-B1, R-B2)', () => {
  const policy = { rotateAfterMs: 1000, publishAheadMs: 100, keepMs: 300 };
  const plan = (ages: readonly number[]) => {
    const keys: readonly KeyAge[] = ages.map((age, index) => ({ kid: `k${index}`, createdMs: 10_000 - age }));
    return planSigningKeys(keys, 10_000, policy);
  };

  test('when no key exists, a new key is due; the first key signs immediately (R-B2)', () => {
    expect(plan([])).toEqual({ signingKid: undefined, isNewDue: true, expiredKids: [] });
    expect(plan([0])).toEqual({ signingKid: 'k0', isNewDue: false, expiredKids: [] });
  });

  test('a new key is published before it signs, and an old key is kept until its tokens have expired (R-B1)', () => {
    expect(plan([1000])).toMatchObject({ signingKid: 'k0', isNewDue: true });
    expect(plan([1099, 99])).toEqual({ signingKid: 'k0', isNewDue: false, expiredKids: [] });
    expect(plan([1100, 100])).toEqual({ signingKid: 'k1', isNewDue: false, expiredKids: [] });
    expect(plan([1399, 399])).toMatchObject({ expiredKids: [] });
    expect(plan([1400, 400])).toMatchObject({ signingKid: 'k1', expiredKids: ['k0'] });
  });

  test('when at least one key exists, exactly one key signs, and this key has not expired (R-B1)', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 5000 }), { minLength: 1, maxLength: 8 }), (ages) => {
        const { signingKid, expiredKids } = plan(ages);
        expect(signingKid).toBeDefined();
        expect(expiredKids).not.toContain(signingKid);
      }),
    );
  });
});

describe('accounts: texts of emails and pages', () => {
  const mails: MailTexts = { ...ACCOUNT_MAIL_TEXTS, ...PASSWORD_MAIL_TEXTS, ...WEBHOOK_MAIL_TEXTS };
  const placeholders = (text: unknown) => [...new Set(JSON.stringify(text).match(/\{\w+\}/g) ?? [])].sort();

  test.each(Object.entries(mails))(
    'the email %s has the same placeholders in every language (R-B10)',
    (_kind, translations) => {
      const english = translations.en;
      for (const language of MAIL_LANGUAGES) {
        const text = translations[language];
        expect(placeholders(text)).toEqual(placeholders(english));
        expect(text.button === undefined).toBe(english.button === undefined);
        if (language !== 'en') expect(text.subject).not.toBe(english.subject);
      }
    },
  );

  test('every page text has the same placeholders in every language (R-B2)', () => {
    for (const language of MAIL_LANGUAGES) {
      for (const [name, text] of Object.entries(PAGE_TEXTS[language])) {
        const english = PAGE_TEXTS.en[name as keyof typeof PAGE_TEXTS.en];
        expect([name, placeholders(text)]).toEqual([name, placeholders(english)]);
      }
    }
  });

  test('values are escaped in HTML, a value in the subject cannot add a header, and a missing value is an error (R-B10)', () => {
    const values = {
      accountName: '<b>&"\r\nBcc: x',
      inviterName: 'I',
      link: 'https://x.example/?a=1&b=2',
      expiry: 'E',
    };
    const mail = renderMail(ACCOUNT_MAIL_TEXTS.invitation, 'en', values);
    expect(mail.subject).toBe('Invitation to <b>&" Bcc: x');
    expect(mail.html).toContain('&lt;b&gt;&amp;&quot;');
    expect(mail.html).toContain('href="https://x.example/?a=1&amp;b=2"');
    expect(mail.text).toContain('https://x.example/?a=1&b=2');
    expect(() =>
      renderMail(ACCOUNT_MAIL_TEXTS.invitation, 'en', { ...values, link: undefined as unknown as string }),
    ).toThrow('link');
  });

  test('a value stays on one line, so that a name cannot pass for a paragraph of the email (R-B10)', () => {
    const name = 'Max\r\n\nYour password has expired:\u2028https://evil.example \u202egnp.exe';
    const mail = renderMail(ACCOUNT_MAIL_TEXTS.invitation, 'en', {
      accountName: 'A',
      inviterName: name,
      link: 'L',
      expiry: 'E',
    });
    const [line] = mail.text.split('\n').filter((text) => text.includes('Max'));
    expect(line).toContain('Max Your password has expired: https://evil.example  gnp.exe');
    for (const text of [mail.text, mail.html]) expect(text).not.toMatch(/[\u2028\u202e\r]/);
  });

  test('emails and pages use the first requested language for which texts exist, otherwise English (R-B10)', () => {
    expect(['fr-BE', 'NL', 'de', 'es', ''].map(toMailLanguage)).toEqual(['fr', 'nl', 'de', 'en', 'en']);
    expect(choosePageLanguage(undefined, null, 'es-ES, fr;q=0.8, de;q=0.5')).toBe('fr');
    expect(choosePageLanguage('nl', 'de', 'fr')).toBe('nl');
    expect(choosePageLanguage('dental', '')).toBe('en');
  });
});
