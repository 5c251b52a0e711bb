/** Concurrent changes: the second change waits for the first and sees its result. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestClient, type TestClient } from '../../support/clients/test-client.ts';
import { linkIn, type Mailbox, openMailbox } from '../../support/doubles/mailbox.ts';
import { addPerson, deleteWith, signInPerson, userIdOf } from '../../support/fixtures/people.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const INVITATIONS = '/account/invitations';

let api: TestApi;
let mailbox: Mailbox;
beforeAll(async () => {
  mailbox = await openMailbox();
  api = await startTestApi({ SMTP_URL: mailbox.url });
});
afterAll(async () => {
  await api.close();
  await mailbox.close();
});

const register = (link: string) =>
  createTestClient(api.origin).post<Readonly<Record<string, unknown>>>(
    `/account/user/register?invitationToken=${new URL(link).searchParams.get('token')}`,
    undefined,
  );

describe('accounts: two managers send concurrent requests', () => {
  const WAYS = {
    demote: (by: TestClient, id: string) => by.post(`/account/user/${id}`, { roles: ['USER'] }),
    lock: (by: TestClient, id: string) => by.post(`/account/user/${id}/lock`, { isLocked: true }),
    delete: (by: TestClient, id: string) => by.delete(`/account/user/${id}`),
    remove: (by: TestClient, id: string) =>
      deleteWith(by, '/account/users/account', { accountId: api.accountId, userIds: [id] }),
  } as const;

  it.each([
    ['demote each other', 'demote'],
    ['lock each other', 'lock'],
    ['delete each other', 'delete'],
    ['remove each other from the account', 'remove'],
  ] as const)(
    'when both requests try to %s, one succeeds and the other is refused (R-B5, R-B8)',
    async (_aim, change) => {
      for (let round = 0; round < 5; round++) {
        const names = [`${change}-${round}-a`, `${change}-${round}-b`];
        for (const name of names) await addPerson(api, name, { role: 'MANAGER' });
        const [a, b] = await Promise.all(names.map((name) => signInPerson(api, name)));
        const [idA = '', idB = ''] = await Promise.all(names.map((name) => userIdOf(api, name)));
        if (!a || !b) throw new Error('two managers must be signed in');
        const answers = await Promise.all([WAYS[change](a, idB), WAYS[change](b, idA)]);
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
        expect(answers.filter(({ status }) => [401, 403, 404].includes(status))).toHaveLength(1);
      }
    },
  );
});

it('accounts: when invitations from two accounts to the same address are accepted concurrently, they create one user, who is a member of both accounts (R-B10)', async () => {
  for (let round = 0; round < 5; round++) {
    const email = `twin-${round}@north.example`;
    await api.manager.post(INVITATIONS, { email });
    await api.stranger.post(INVITATIONS, { email });
    const mails = [await mailbox.next(email, 1), await mailbox.next(email, 2)];
    const answers = await Promise.all(mails.map((mail) => register(linkIn(mail))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(new Set(answers.map(({ body }) => body.userId)).size).toBe(1);
    const { rows } = await api.database.query('select account_id from account_member where user_id = $1 order by 1', [
      answers[0]?.body.userId,
    ]);
    expect(rows).toEqual([{ account_id: api.accountId }, { account_id: api.otherAccountId }]);
  }
});
