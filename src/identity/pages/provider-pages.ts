/** Pages of the issuer: the error and sign-out pages that oidc-provider asks for, and the page for an unknown path. */
import { html, raw } from 'hono/html';
import { type ErrorOut, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { paragraphHtml } from './form-html.ts';
import { languageOf, sendExpired, sendPage } from './page-context.ts';
import { PAGE_TEXTS } from './texts/page-texts.ts';

/**
 * Answers a browser with a page, and a program with JSON. When the request was refused (a status below 500), the page
 * also shows the error, which helps the developers of the client.
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
  // The reason is for the client's developers, so it stays in English and in the terms of the OAuth standard.
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

/** Asks whether to sign out. @param form oidc-provider's HTML form with the id `op.logoutForm`, without buttons. */
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
