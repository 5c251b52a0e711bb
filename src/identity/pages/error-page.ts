/** What a person sees of an authorization or a sign-out that cannot go on. */
import { type ErrorOut, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { escapeHtml } from '../../platform/mail/mail-render.ts';
import { paragraphHtml } from './form-html.ts';
import { languageOf, sendExpired, sendPage } from './page-context.ts';
import { PAGE_TEXTS } from './texts/page-texts.ts';

/** A person gets a page, which also tells the makers of the program what was wrong; a program gets JSON. */
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
  // What went wrong is for the makers of the program, in the words of the standard.
  const refused = `${paragraphHtml(refusedLead)}\n<p lang="en">${escapeHtml(reason)}</p>`;
  const body = status >= 500 ? paragraphHtml(faultLead) : refused;
  sendPage(ctx, { language, title, body, status });
}

/** There is nothing at that address. */
export function showMissing(ctx: KoaContextWithOIDC): void {
  const language = languageOf(ctx);
  const { missingTitle: title, missingLead } = PAGE_TEXTS[language];
  sendPage(ctx, { language, title, body: paragraphHtml(missingLead), status: 404 });
}
