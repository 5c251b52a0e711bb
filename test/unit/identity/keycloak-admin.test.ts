/** Tests the errors that the client of Keycloak's admin interface throws when a call fails. */
import { expect, test } from 'vitest';
import { createKeycloakAdmin } from '../../../src/identity/keycloak/admin-client.ts';

test('Keycloak: when a call fails, the `cause` of the error names the request and the time limit, but the message for the client mentions neither Keycloak nor a token', async () => {
  const reason = new Error('connect ECONNREFUSED');
  const admin = createKeycloakAdmin({
    ...{ url: 'http://id.example', realm: 'r', clientId: 'c', clientSecret: 's' },
    fetch: () => Promise.reject(reason),
  });
  const error = await admin.findUser('u').catch((failure: unknown) => failure);
  expect(error).toMatchObject({
    code: 'dependency_unavailable',
    message: expect.not.stringMatching(/keycloak|token/i),
    cause: {
      message: expect.stringMatching(/^POST \/realms\/r\/.*\/token: Keycloak cannot be reached, .* within 10 s$/),
      cause: reason,
    },
  });
});
