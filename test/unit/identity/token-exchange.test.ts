/** Tests which errors of the token verifier the token exchange passes on (R-B14, R-A5). */
import { expect, test } from 'vitest';
import { answerTokenExchange, type ExchangeContext } from '../../../src/identity/issuer/grants/token-exchange.ts';
import { DomainError, type ErrorCode } from '../../../src/platform/errors.ts';

/** Exchanges a token that the verifier refuses with this code. @returns the error of the exchange. */
function exchange(code: ErrorCode): Promise<unknown> {
  const context = { verifier: () => Promise.reject(new DomainError(code, 'why')) } as unknown as ExchangeContext;
  const params = { subject_token: 'token', requested_subject: 'user' };
  const ctx = { oidc: { params } } as unknown as Parameters<typeof answerTokenExchange>[1];
  return answerTokenExchange(context, ctx).catch((error: unknown) => error);
}

test('token exchange: a refused subject token is invalid_grant, but unreadable keys of the issuer are dependency_unavailable, which clients retry', async () => {
  expect(await exchange('invalid_token')).toMatchObject({ error: 'invalid_grant', error_description: 'why' });
  expect(await exchange('dependency_unavailable')).toMatchObject({ code: 'dependency_unavailable' });
});
