import { argon2Sync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashSecret, verifySecret } from '../../../src/platform/secret-hash.ts';

describe('identity: stored secrets', () => {
  it('a stored secret is a salted argon2id hash that matches only the right secret (R-B11)', async () => {
    const [first, second] = await Promise.all([hashSecret('correct horse'), hashSecret('correct horse')]);
    expect(first).toMatch(/^\$argon2id\$v=19\$/);
    expect(first).not.toBe(second);
    await expect(verifySecret('correct horse', first)).resolves.toBe(true);
    await expect(verifySecret('Correct horse', first)).resolves.toBe(false);
  });

  it('a stored hash matches only the right secret, even when its parameters differ from the parameters of new hashes (R-B11)', async () => {
    const nonce = Buffer.from('0123456789abcdef');
    const hash = argon2Sync('argon2id', {
      message: 'correct horse',
      nonce,
      memory: 64,
      passes: 1,
      parallelism: 2,
      tagLength: 16,
    });
    const unpadded = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
    const phc = `$argon2id$v=19$m=64,t=1,p=2$${unpadded(nonce)}$${unpadded(hash)}`;
    await expect(verifySecret('correct horse', phc)).resolves.toBe(true);
    await expect(verifySecret('wrong horse', phc)).resolves.toBe(false);
  });

  it('an absent hash matches no secret (R-B11)', async () => {
    await expect(verifySecret('', undefined)).resolves.toBe(false);
    await expect(verifySecret('x', null)).resolves.toBe(false);
  });

  it('when the stored text is not an argon2id PHC string, the check of a secret throws an error (R-B11)', async () => {
    await expect(verifySecret('x', 'x')).rejects.toThrow('must be an argon2id PHC string');
  });
});
