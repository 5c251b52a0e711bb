/**
 * Wrong passwords block the address of the guesser, not the user's devices at other addresses. Many wrong passwords
 * from many addresses block all addresses that never sent the right password (R-B11).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { passwordExchange } from '../../../src/identity/authentication/exchange-password.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createTestClient, requestToken } from '../../support/clients/test-client.ts';
import { addUser, PASSWORD, passwordGrant } from '../../support/fixtures/accounts.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const MAX_FAILURES = 2;
const MANY = 20 * MAX_FAILURES;

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({
    SIGN_IN_MAX_FAILURES: String(MAX_FAILURES),
    ...{ PROXY_HOPS: '1', TOKEN_RATE_PER_MINUTE: '0' },
  });
});
afterAll(() => api.close());

const addDevice = (userName: string) =>
  addUser(api.database, userName, { role: 'MANAGER', accountIds: [api.accountId], mayPush: true });

/** Pushes with HTTP Basic to the process under test, which caches accepted passwords. @returns the HTTP status. */
async function push(userName: string, password: string, network: string): Promise<number> {
  const authorization = `Basic ${Buffer.from(`${userName}:${password}`).toString('base64')}`;
  const headers = { authorization, 'x-forwarded-for': network };
  return (await createTestClient(api.origin).post('/api/data', [], headers)).status;
}

/** @returns true when a process that has cached no passwords accepts the right password of the device. */
function isAccepted(userName: string, network: string): Promise<boolean> {
  const { config, database, authentication } = api.parts;
  const exchange = passwordExchange(config, database, authentication.verifier, systemClock);
  if (!exchange) throw new Error('Basic is off');
  return exchange({ userName, password: PASSWORD, network }).then(
    () => true,
    () => false,
  );
}

/** Sends different wrong passwords, a few at a time. */
async function guess(userName: string, count: number, networkOf: (guess: number) => string): Promise<void> {
  const rest = Array.from({ length: count }, (_, index) => index);
  const work = async () => {
    for (let index = rest.pop(); index !== undefined; index = rest.pop()) {
      expect(await push(userName, `wrong ${index}`, networkOf(index))).toBe(401);
    }
  };
  await Promise.all([work(), work(), work(), work()]);
}

const signIn = (userName: string) => requestToken(api.origin, passwordGrant(userName));

describe.concurrent('push: wrong Basic passwords', () => {
  it('block the address of the guesser; the right password from another address is accepted, even by a process that has not cached this password (R-B11)', async () => {
    await addDevice('one');
    await guess('one', 2 * MAX_FAILURES, () => '192.0.2.1');
    expect(await push('one', PASSWORD, '192.0.2.1')).toBe(401);
    expect(await isAccepted('one', '192.0.2.1')).toBe(false);
    expect(await isAccepted('one', '192.0.2.2')).toBe(true);
  });

  it('block sign-in from an address, except for a device that has already pushed from this address (R-B11)', async () => {
    await addDevice('two');
    expect(await push('two', PASSWORD, '127.0.0.1')).toBe(200);
    await guess('two', 3 * MAX_FAILURES, () => '127.0.0.1');
    expect(await isAccepted('two', '127.0.0.1')).toBe(true);
    await guess('two', MAX_FAILURES, () => '127.0.0.1');
    await expect(signIn('two')).rejects.toThrow('invalid_grant');
  });

  it('after 20 × SIGN_IN_MAX_FAILURES wrong passwords from an address, even devices that have pushed from it are refused (R-B11)', async () => {
    await addDevice('three');
    expect(await push('three', PASSWORD, '192.0.2.3')).toBe(200);
    await guess('three', MANY - 1, () => '192.0.2.3');
    // The device sends the right password, which resets the count of wrong passwords from the same address.
    expect(await isAccepted('three', '192.0.2.3')).toBe(true);
    await guess('three', MANY, () => '192.0.2.3');
    expect(await isAccepted('three', '192.0.2.3')).toBe(false);
    expect(await isAccepted('three', '192.0.2.4')).toBe(true);
  }, 30_000);

  it('many wrong passwords from many addresses block every address that has never sent the right password (R-B11)', async () => {
    await addDevice('four');
    expect(await push('four', PASSWORD, '198.51.100.1')).toBe(200);
    await guess('four', MANY - 1, (index) => `203.0.113.${index}`);
    // The last guess is sent alone, because the service does not count guesses that are still in progress.
    expect(await isAccepted('four', '198.51.100.1')).toBe(true);
    expect(await push('four', 'the last guess', '203.0.113.255')).toBe(401);
    expect(await isAccepted('four', '198.51.100.1')).toBe(true);
    expect(await isAccepted('four', '198.51.100.2')).toBe(false);
    await expect(signIn('four')).rejects.toThrow('invalid_grant');
  }, 30_000);

  it('a wrong password that a device repeats counts once (R-B11)', async () => {
    await addDevice('five');
    for (let count = 0; count < 3 * MAX_FAILURES; count += 1) await push('five', 'old password', '192.0.2.5');
    expect(await isAccepted('five', '192.0.2.5')).toBe(true);
  });

  it('from all addresses are counted together, but a repeated wrong password counts once (R-B11)', async () => {
    await addDevice('seven');
    await push('seven', 'old password', '192.0.2.7');
    await guess('seven', MANY - 2, (index) => `203.0.113.${index}`);
    await push('seven', 'old password', '192.0.2.7');
    expect(await isAccepted('seven', '198.51.100.7')).toBe(true);
    await push('seven', 'another password', '192.0.2.7');
    expect(await isAccepted('seven', '198.51.100.8')).toBe(false);
  }, 30_000);

  it('are forgotten when a manager unlocks the user (R-B11)', async () => {
    const userId = await addDevice('six');
    await guess('six', MAX_FAILURES, () => '192.0.2.6');
    expect(await isAccepted('six', '192.0.2.6')).toBe(false);
    const { body } = await api.manager.get<{ isLocked: boolean; lockedUntil?: string }>(`/account/user/${userId}`);
    expect(body).toMatchObject({ isLocked: true, lockedUntil: expect.any(String) });
    expect((await api.manager.post(`/account/user/${userId}/lock`, { isLocked: false })).status).toBe(200);
    expect(await isAccepted('six', '192.0.2.6')).toBe(true);
  });
});
