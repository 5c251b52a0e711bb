/** An interaction is an authorization that waits for the user's answer to a page. */
import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import { findTokenUser, type TokenUser } from '../authentication/find-token-user.ts';
import type { KeptSession } from '../passwords/revoke-sessions.ts';
import { languageOf, type PageContext, type PageRequest, sendExpired } from './page-context.ts';
import type { PageLanguage } from './texts/page-texts.ts';

export type InteractionDetails = Awaited<ReturnType<Provider['interactionDetails']>>;

/**
 * @returns the interaction that the browser's cookie names; undefined when there is no such interaction, when the
 * interaction has expired, or when the page belongs to another interaction.
 * @throws every error of the provider except SessionNotFound.
 */
export async function findInteraction(provider: Provider, ctx: PageRequest): Promise<InteractionDetails | undefined> {
  try {
    const details = await provider.interactionDetails(ctx.req, ctx.res);
    return ctx.path === `/interaction/${details.uid}` ? details : undefined;
  } catch (error) {
    if (error instanceof errors.SessionNotFound) return undefined;
    throw error;
  }
}

/**
 * Continues the authorization after the user has completed a page.
 * @param result what the user did on the page, such as a sign-in.
 */
export async function finishInteraction(
  provider: Provider,
  ctx: PageRequest,
  result: Readonly<Record<string, unknown>>,
): Promise<void> {
  ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, { ...result }));
  // 303 makes the browser follow the redirect with GET, even after a POST.
  ctx.status = 303;
}

/** @returns the user who is signed in; undefined before a sign-in. */
export async function findInteractionUser(
  { database, clock }: PageContext,
  { session }: InteractionDetails,
): Promise<TokenUser | undefined> {
  const userId = session?.accountId;
  return userId === undefined ? undefined : findTokenUser(database, userId, undefined, new Date(clock.nowMillis()));
}

/** @returns the only session of the user that stays valid after a change of the password. */
export function keptSession({ uid, session }: InteractionDetails): KeptSession {
  return { interactionUid: uid, sessionUid: session?.uid };
}

/**
 * @returns the origin or custom scheme of the client's redirect URI. `form-action` must allow this value, because a
 *   submitted form can end with a redirect to the redirect URI.
 */
export function formTargets({ params }: InteractionDetails): readonly string[] {
  try {
    const { origin, protocol } = new URL(String(params.redirect_uri));
    // The custom scheme of a native client has no origin.
    return [origin === 'null' ? protocol : origin];
  } catch {
    return [];
  }
}

/** Chooses the language of a page of an interaction. */
export function interactionLanguage(
  ctx: PageRequest,
  { params }: InteractionDetails,
  userLanguage?: string | null,
): PageLanguage {
  return languageOf(ctx, userLanguage, params.ui_locales);
}

/** Answers with a page that says that the interaction has expired. */
export function sendUnknownInteraction(ctx: PageRequest): void {
  sendExpired(ctx, languageOf(ctx));
}
