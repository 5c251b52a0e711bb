/** The users that the first start of the local stack creates. */
import { expect, it } from 'vitest';
import { makeSecrets } from '../../../src/local/secrets.ts';
import { demoUsers, seedIdentity } from '../../../src/local/seed.ts';
import { createStoredWorld } from '../../support/fixtures/world.ts';

it('npm start: the email address of each demo user is the same as the user name (R-B11, §4.3)', async () => {
  const world = await createStoredWorld();
  try {
    const secrets = makeSecrets();
    await seedIdentity(world.environment.DATABASE_URL ?? '', secrets);
    const names = demoUsers(secrets).map(({ userName }) => userName);
    const { rows } = await world.database.query<{ userName: string; email: string }>(
      'select user_name as "userName", email from app_user where user_name = any($1) order by user_name',
      [names],
    );
    expect(rows).toEqual(names.toSorted().map((userName) => ({ userName, email: userName })));
  } finally {
    await world.close();
  }
});
