import { describe, expect, it } from 'vitest';
import { checkInTurn } from '../../../src/identity/passwords/password-checks.ts';

/** @returns `check`, which requests a check, and `end`, which ends the oldest check. Only `end` ends a check. */
function startChecks() {
  let running = 0;
  const ends: (() => void)[] = [];
  const check = (network: string) =>
    checkInTurn(network, async () => {
      running += 1;
      await new Promise<void>((resolve) => ends.push(resolve));
      running -= 1;
      return network;
    });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const end = async () => {
    ends.shift()?.();
    await settle();
  };
  return { check, end, settle, running: () => running };
}

describe('identity: password checks', () => {
  it('a check waits for at most two checks from every other client network (R-B11, R-A14)', async () => {
    const { check, end, settle, running } = startChecks();
    const order: string[] = [];
    const work = Array.from({ length: 8 }, async () => order.push(await check('192.0.2.1')));
    await settle();
    expect(running()).toBe(1);
    work.push(check('192.0.2.2').then((network) => order.push(network)));
    await settle();
    for (let count = 0; count < 9; count += 1) await end();
    await Promise.all(work);
    expect(order.indexOf('192.0.2.2')).toBeLessThanOrEqual(2);
    expect(order).toHaveLength(9);
  });

  it('a check is refused when 250 checks for the same client network already wait (R-B11)', async () => {
    const { check, end, settle } = startChecks();
    const work = Array.from({ length: 251 }, () => check('192.0.2.3'));
    await settle();
    await expect(check('192.0.2.3')).rejects.toMatchObject({ code: 'rate_limited' });
    for (let count = 0; count < 251; count += 1) await end();
    await Promise.all(work);
  });
});
