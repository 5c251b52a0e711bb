import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { openSecretVault } from '../../../src/webhooks/secret-vault.ts';

const newKey = (id: string) => ({ id, key: randomBytes(32) });
const [OLD, NEW] = [newKey('2026-10'), newKey('2026-11')];
const SECRET = 'whsec_c2VjcmV0 ü';

describe('webhook secrets at rest', () => {
  test('a sealed text opens only with the key that sealed it, and only for its account; sealing the same text again gives another sealed text (R-I1)', () => {
    const vault = openSecretVault([OLD]);
    const sealed = vault.seal(SECRET, 1);
    expect(sealed).not.toContain('whsec_');
    expect(vault.seal(SECRET, 1)).not.toBe(sealed);
    expect(vault.open(sealed, 1)).toBe(SECRET);
    expect(() => vault.open(sealed, 2)).toThrow(
      'the stored secret or headers of a webhook of account 2 are damaged, or belong to',
    );
    expect(() => openSecretVault([NEW]).open(sealed, 1)).toThrow('WEBHOOK_KEYS must have the key "2026-10"');
    const refusal =
      'the key "2026-10" of WEBHOOK_KEYS cannot decrypt the secret or headers of a webhook of account 1: the key with this id was replaced';
    for (const use of ['open', 'renew'] as const)
      expect(() => openSecretVault([NEW, { ...NEW, id: OLD.id }])[use](sealed, 1)).toThrow(refusal);
  });

  test('a sealed text is refused when its data key or its encrypted text has been altered (R-I1)', () => {
    const vault = openSecretVault([OLD]);
    const sealed = vault.seal(SECRET, 1);
    const parts = sealed.split(':');
    for (const index of [3, 4]) {
      const bytes = Buffer.from(parts[index] ?? '', 'base64url');
      for (const at of [0, 14, bytes.length - 1]) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ 1;
        const text = parts.with(index, changed.toString('base64url')).join(':');
        expect(() => vault.open(text, 1)).toThrow(/webhook of account 1.* (are damaged|was changed)/);
      }
    }
  });

  test('a key rotation re-encrypts only the data key of a sealed text, and seals plain texts (R-I1)', () => {
    const sealed = openSecretVault([OLD]).seal(SECRET, 1);
    const both = openSecretVault([NEW, OLD]);
    const renewed = both.renew(sealed, 1) ?? '';
    expect(renewed.split(':').at(-1)).toBe(sealed.split(':').at(-1));
    expect(openSecretVault([NEW]).open(renewed, 1)).toBe(SECRET);
    expect(both.renew(renewed, 1)).toBeUndefined();
    expect(openSecretVault([NEW]).open(both.renew(SECRET, 1) ?? '', 1)).toBe(SECRET);
  });

  test('without keys, texts are stored and read in plain form (R-I1)', () => {
    const vault = openSecretVault([]);
    expect([vault.keyId, vault.seal(SECRET, 1), vault.open(SECRET, 1), vault.renew(SECRET, 1)]).toEqual([
      ...[undefined, SECRET, SECRET, undefined],
    ]);
  });

  test('WEBHOOK_KEYS must list keys of 32 bytes with different ids (R-K1)', () => {
    const read = (WEBHOOK_KEYS: string) =>
      readConfig({ DATABASE_URL: 'postgres://x/x', REDIS_URL: 'redis://x', WEBHOOK_KEYS }).WEBHOOK_KEYS;
    const base64 = OLD.key.toString('base64');
    expect(read(`a:${base64}, b:${NEW.key.toString('base64url')}`)).toEqual([
      { id: 'a', key: OLD.key },
      { id: 'b', key: NEW.key },
    ]);
    expect(read('')).toEqual([]);
    for (const wrong of [base64, 'a:c2hvcnQ='])
      expect(() => read(wrong)).toThrow(/WEBHOOK_KEYS .*; key 1 of 1 is wrong/);
    expect(() => read(`a:${base64},a:${base64}`)).toThrow(/WEBHOOK_KEYS .*; key 2 of 2 is wrong/);
  });
});
