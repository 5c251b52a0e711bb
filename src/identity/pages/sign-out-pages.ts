/** Sign-out: whether it is meant, and that it is done. Also what is shown when an authorization cannot be answered. */
import type { KoaContextWithOIDC } from 'oidc-provider';
import { escapeHtml } from '../../platform/mail/mail-render.ts';
import { paragraphHtml } from './form-html.ts';
import { languageOf, sendPage } from './page-context.ts';
import { PAGE_TEXTS } from './texts/page-texts.ts';

/** @param form of oidc-provider, without buttons; its id is `op.logoutForm`. */
export async function showSignOut(ctx: KoaContextWithOIDC, form: string): Promise<void> {
  const language = languageOf(ctx, undefined, ctx.oidc.params?.ui_locales);
  const texts = PAGE_TEXTS[language];
  const buttons = [
    `<button type="submit" form="op.logoutForm" name="logout" value="yes">${escapeHtml(texts.signOut)}</button>`,
    `<button type="submit" form="op.logoutForm" class="second">${escapeHtml(texts.staySignedIn)}</button>`,
  ];
  const returnAddress = ctx.oidc.params?.post_logout_redirect_uri;
  sendPage(ctx, {
    language,
    title: texts.signOutTitle,
    body: [paragraphHtml(texts.signOutLead), form, ...buttons].join('\n'),
    formTargets: typeof returnAddress === 'string' ? [new URL(returnAddress).origin] : [],
  });
}

export async function showSignedOut(ctx: KoaContextWithOIDC): Promise<void> {
  const language = languageOf(ctx);
  const { signedOutTitle: title, signedOutLead } = PAGE_TEXTS[language];
  sendPage(ctx, { language, title, body: paragraphHtml(signedOutLead) });
}
