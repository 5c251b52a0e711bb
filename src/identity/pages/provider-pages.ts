/** Pages that oidc-provider asks for, on errors and at sign-out, and the page for an unknown path of the issuer. */
import { html, raw } from 'hono/html';
import { type ErrorOut, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { paragraphHtml } from './form-html.ts';
import { languageOf, sendExpired, sendPage } from './page-context.ts';
import { PAGE_TEXTS } from './texts/page-texts.ts';

/**
 * Answers a browser with a page, and a program with JSON. The page of a refused request includes the error for the
 * developers of the client.
 */
export function showError(ctx: KoaContextWithOIDC, out: ErrorOut, error: Error): void {
  if (ctx.accepts('json', 'html') !== 'html') {
    ctx.type = 'json';
    ctx.body = out;
    return;
  }
  const language = languageOf(ctx);
  if (error instanceof errors.SessionNotFound) {
    sendExpired(ctx, language);
    return;
  }
  const { failedTitle: title, faultLead, refusedLead } = PAGE_TEXTS[language];
  const { status } = ctx;
  const reason = [out.error, out.error_description].filter(Boolean).join(': ');
  // The reason is for developers: it stays in English, in the terms of the standard.
  const refused = html`${paragraphHtml(refusedLead)}\n<p lang="en">${reason}</p>`;
  const body = status >= 500 ? paragraphHtml(faultLead) : refused;
  sendPage(ctx, { language, title, body, status });
}

/** Answers 404 with a page of the issuer. */
export function showMissing(ctx: KoaContextWithOIDC): void {
  const language = languageOf(ctx);
  const { missingTitle: title, missingLead } = PAGE_TEXTS[language];
  sendPage(ctx, { language, title, body: paragraphHtml(missingLead), status: 404 });
}

/** Asks whether to sign out. @param form HTML of oidc-provider, without buttons; its id is `op.logoutForm`. */
export async function showSignOut(ctx: KoaContextWithOIDC, form: string): Promise<void> {
  const language = languageOf(ctx, undefined, ctx.oidc.params?.ui_locales);
  const texts = PAGE_TEXTS[language];
  const returnAddress = ctx.oidc.params?.post_logout_redirect_uri;
  sendPage(ctx, {
    language,
    title: texts.signOutTitle,
    body: html`${paragraphHtml(texts.signOutLead)}
${raw(form)}
<button type="submit" form="op.logoutForm" name="logout" value="yes">${texts.signOut}</button>
<button type="submit" form="op.logoutForm" class="second">${texts.staySignedIn}</button>`,
    formTargets: typeof returnAddress === 'string' ? [new URL(returnAddress).origin] : [],
  });
}

/** Answers with a page that confirms that the user is signed out. */
export async function showSignedOut(ctx: KoaContextWithOIDC): Promise<void> {
  const language = languageOf(ctx);
  const { signedOutTitle: title, signedOutLead } = PAGE_TEXTS[language];
  sendPage(ctx, { language, title, body: paragraphHtml(signedOutLead) });
}
