/**
 * Decides which page an authorization request shows: the one for sign-in, the one for a new password, or none. No page
 * asks for consent, because the operator registers every client.
 */
import { interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';
import { findTokenUser } from '../authentication/find-token-user.ts';
import { findProfile } from '../directory/find-profile.ts';
import type { GrantContext } from './grants/issuer-grants.ts';

export const CHANGE_PASSWORD_PROMPT = 'change_password';
export const FIRST_PASSWORD_PROMPT = 'first_password';
/** Keycloak's parameter that requests a password change: `kc_action=UPDATE_PASSWORD`. */
export const ACTION_PARAMETER = 'kc_action';
const UPDATE_PASSWORD = 'UPDATE_PASSWORD';

const { Check, Prompt, base } = interactionPolicy;

/**
 * @returns oidc-provider's policy without the prompt `consent`, but with two prompts and a login check that this
 * service adds.
 */
export function createInteractionPolicy(context: GrantContext): ReturnType<typeof base> {
  const policy = base();
  policy.remove('consent');
  policy.get('login')?.checks.add(
    new Check('other_user', 'the signed-in user is locked or deleted, or not the user in login_hint', async (ctx) => {
      const { session, result, params } = ctx.oidc;
      if (!session?.accountId || result?.login) return Check.NO_NEED_TO_PROMPT;
      const profile = await findProfile(context.database, session.accountId, new Date(context.clock.nowMillis()));
      if (!profile) return Check.REQUEST_PROMPT;
      const hint = typeof params?.login_hint === 'string' ? params.login_hint.toLowerCase() : undefined;
      // A link to change one user's password must not change another user's password. So the user in `login_hint` must
      // sign in first.
      const isOther = hint !== undefined && isPasswordAction(ctx) && hint !== profile.preferred_username.toLowerCase();
      return isOther ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT;
    }),
  );
  policy.add(
    new Prompt(
      { name: FIRST_PASSWORD_PROMPT, requestable: false },
      new Check('temporary_password', 'the user must replace the temporary password', async (ctx) => {
        const { database, clock } = context;
        const userId = ctx.oidc.session?.accountId ?? '';
        const user = await findTokenUser(database, userId, undefined, new Date(clock.nowMillis()));
        return user?.mustChangePassword ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT;
      }),
    ),
  );
  policy.add(
    new Prompt(
      { name: CHANGE_PASSWORD_PROMPT, requestable: false },
      new Check('asked_for', 'a password change was requested', (ctx) =>
        isPasswordAction(ctx) && !ctx.oidc.result?.[CHANGE_PASSWORD_PROMPT]
          ? Check.REQUEST_PROMPT
          : Check.NO_NEED_TO_PROMPT,
      ),
    ),
  );
  return policy;
}

function isPasswordAction(ctx: KoaContextWithOIDC): boolean {
  return ctx.oidc.params?.[ACTION_PARAMETER] === UPDATE_PASSWORD;
}
