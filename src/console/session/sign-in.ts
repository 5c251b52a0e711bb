/**
 * Signs in by authorization code with PKCE (R-B2). Tokens are kept only in memory, so a reload starts a new sign-in.
 * While the issuer's session lasts, no page is shown. Session storage keeps only the state of a running sign-in.
 */
import { InMemoryWebStorage, type User, UserManager, WebStorageStateStore } from 'oidc-client-ts';
import { settings } from './settings.ts';

const SIGNED_IN_PATH = '/console/signed-in';
const SIGNED_OUT_PATH = '/console/signed-out';
/** A token is renewed this many seconds before it expires. */
const RENEW_BEFORE_SEC = 60;

interface ReturnState {
  /** Path, query and fragment of the page that the browser shows after the sign-in. */
  readonly address: string;
}

const manager = new UserManager({
  authority: settings.issuer,
  client_id: settings.clientId,
  redirect_uri: `${location.origin}${SIGNED_IN_PATH}`,
  post_logout_redirect_uri: `${location.origin}${SIGNED_OUT_PATH}`,
  scope: 'openid datahub-api push-data',
  userStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
  stateStore: new WebStorageStateStore({ store: sessionStorage, prefix: 'tidemark.' }),
  accessTokenExpiringNotificationTimeInSeconds: RENEW_BEFORE_SEC,
  automaticSilentRenew: true,
  loadUserInfo: true,
  monitorSession: false,
});

// When the token cannot be renewed, starts a new sign-in. The issuer decides whether the user sees a sign-in page.
manager.events.addSilentRenewError(() => void signIn());

export type SignInOutcome =
  | { readonly kind: 'signed_in'; readonly user: User }
  | { readonly kind: 'signed_out' }
  /** The browser leaves this page. */
  | { readonly kind: 'leaving' }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * Starts a sign-in, or completes the sign-in when the browser returns from the issuer. On the page for signed-out
 * people, does nothing. On any other page whose origin is not the API's, only sends the browser to the API's origin.
 */
export async function openSession(): Promise<SignInOutcome> {
  if (location.pathname === SIGNED_OUT_PATH) return { kind: 'signed_out' };
  const canonical = new URL(settings.api).origin;
  if (location.origin !== canonical) {
    // Sign-in works only at the API's origin: the issuer redirects only to the registered URL, which has this origin.
    location.replace(canonical + here());
    return { kind: 'leaving' };
  }
  try {
    if (location.pathname !== SIGNED_IN_PATH) return await signIn();
    const user = await manager.signinRedirectCallback();
    const { address } = user.state as ReturnState;
    history.replaceState(null, '', address);
    return { kind: 'signed_in', user };
  } catch (error) {
    return { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

/** Redirects the browser to the issuer. @param address page to show after the sign-in: its path, query and fragment. */
export async function signIn(address: string = here()): Promise<SignInOutcome> {
  await manager.removeUser();
  const state: ReturnState = { address: address.startsWith(SIGNED_IN_PATH) ? '/' : address };
  await manager.signinRedirect({ state, ui_locales: document.documentElement.lang });
  return { kind: 'leaving' };
}

/**
 * Revokes the refresh token and opens the sign-out page of the issuer. The embedded issuer asks the user whether to end
 * the issuer's session. With either answer, the issuer redirects to the page for signed-out people.
 */
export async function signOut(): Promise<void> {
  await manager.revokeTokens(['refresh_token']).catch(() => undefined);
  await manager.signoutRedirect();
}

/**
 * Forgets the tokens of this tab and shows the page for signed-out people. Call it after the server has ended all
 * sessions of the user.
 */
export async function leave(): Promise<void> {
  await manager.removeUser();
  location.assign(SIGNED_OUT_PATH);
}

/** @returns the current access token; undefined when signed out. */
export async function accessToken(): Promise<string | undefined> {
  return (await manager.getUser())?.access_token;
}

function here(): string {
  return location.pathname + location.search + location.hash;
}
