/** One authorization that waits at a page: what it is, who it is for, and how it goes on. */
import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import { findTokenUser, type TokenUser } from '../authentication/find-token-user.ts';
import type { KeptSession } from '../passwords/revoke-sessions.ts';
import { languageOf, type PageContext, type PageRequest, sendExpired } from './page-context.ts';
import type { PageLanguage } from './texts/page-texts.ts';

export type InteractionDetails = Awaited<ReturnType<Provider['interactionDetails']>>;

/** The interaction whose cookie the browser has, if the page is of that one. */
export async function findInteraction(provider: Provider, ctx: PageRequest): Promise<InteractionDetails | undefined> {
  try {
    const details = await provider.interactionDetails(ctx.req, ctx.res);
    return ctx.path === `/interaction/${details.uid}` ? details : undefined;
  } catch (error) {
    if (error instanceof errors.SessionNotFound) return undefined;
    throw error;
  }
}

/** Takes a step: the authorization goes on with this result. */
export async function finishInteraction(
  provider: Provider,
  ctx: PageRequest,
  result: Readonly<Record<string, unknown>>,
): Promise<void> {
  ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, { ...result }));
  // After a POST the browser must go on with a GET.
  ctx.status = 303;
}

/** The user who is signed in. */
export async function findInteractionUser(
  { database, clock }: PageContext,
  { session }: InteractionDetails,
): Promise<TokenUser | undefined> {
  const userId = session?.accountId;
  return userId === undefined ? undefined : findTokenUser(database, userId, undefined, new Date(clock.nowMillis()));
}

/** What stays open when the user of this interaction chooses a password. */
export function keptSession({ uid, session }: InteractionDetails): KeptSession {
  return { interactionUid: uid, sessionUid: session?.uid };
}

/** Where the forms of an interaction lead in the end. */
export function formTargets({ params }: InteractionDetails): readonly string[] {
  try {
    const { origin, protocol } = new URL(String(params.redirect_uri));
    // Of a native client's own scheme there is no origin.
    return [origin === 'null' ? protocol : origin];
  } catch {
    return [];
  }
}

export function interactionLanguage(
  ctx: PageRequest,
  { params }: InteractionDetails,
  userLanguage?: string | null,
): PageLanguage {
  return languageOf(ctx, userLanguage, params.ui_locales);
}

export function sendUnknownInteraction(ctx: PageRequest): void {
  sendExpired(ctx, languageOf(ctx));
}
