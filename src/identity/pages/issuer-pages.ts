/** Routes requests for the issuer's pages by their path, before oidc-provider's own routes see the requests. */
import type Provider from 'oidc-provider';
import { authorizationAddress, SIGNED_IN_PATH } from '../directory/embedded-directory.ts';
import { paragraphHtml } from './form-html.ts';
import { findInteraction, type InteractionDetails, sendUnknownInteraction } from './interaction.ts';
import { languageOf, type PageContext, type PageRequest, sendExpired, sendPage } from './page-context.ts';
import { showPassword, takePassword } from './password-page.ts';
import { type Form, isFromOwnPage, readForm } from './read-form.ts';
import { showForgot, showReset, takeForgot, takeReset } from './reset-page.ts';
import { showSignIn, takeSignIn } from './sign-in-page.ts';
import { PAGE_TEXTS } from './texts/page-texts.ts';

type Next = () => Promise<void>;

/** Middleware that answers requests for the issuer's pages. Mount it before the provider's routes. */
export function issuerPages(context: PageContext, provider: Provider): (ctx: PageRequest, next: Next) => Promise<void> {
  return async (ctx, next) => {
    if (ctx.method === 'GET' || ctx.method === 'HEAD') {
      if (!(await showPage(context, provider, ctx))) await next();
    } else if (ctx.method === 'POST' && isPage(ctx.path)) {
      const isOwn = isFromOwnPage(ctx.req.headers, new URL(context.issuer).origin);
      const form = isOwn ? await readForm(ctx.req) : undefined;
      if (form) await takePage(context, provider, ctx, form);
      else sendExpired(ctx, languageOf(ctx));
    } else await next();
  };
}

function isPage(path: string): boolean {
  return path === '/forgot-password' || path === '/reset-password' || path.startsWith('/interaction/');
}

/** @returns false when the path is not a page of the issuer. */
async function showPage(context: PageContext, provider: Provider, ctx: PageRequest): Promise<boolean> {
  if (ctx.path === SIGNED_IN_PATH) showSignedIn(context, ctx);
  else if (ctx.path === '/forgot-password') await showForgot(context, provider, ctx);
  else if (ctx.path === '/reset-password') await showReset(context, ctx, tokenOf(ctx));
  else if (ctx.path.startsWith('/interaction/')) await showInteraction(context, provider, ctx);
  else return false;
  return true;
}

async function takePage(context: PageContext, provider: Provider, ctx: PageRequest, form: Form): Promise<void> {
  if (ctx.path === '/forgot-password') return takeForgot(context, ctx, form);
  if (ctx.path === '/reset-password') return takeReset(context, ctx, tokenOf(ctx), form);
  const details = await findInteraction(provider, ctx);
  if (!details) return sendUnknownInteraction(ctx);
  const take = isSignIn(details) ? takeSignIn : takePassword;
  await take(context, provider, ctx, details, form);
}

async function showInteraction(context: PageContext, provider: Provider, ctx: PageRequest): Promise<void> {
  const details = await findInteraction(provider, ctx);
  if (!details) return sendUnknownInteraction(ctx);
  if (isSignIn(details)) await showSignIn(context, provider, ctx, details);
  else await showPassword(context, provider, ctx, details);
}

function isSignIn({ prompt }: InteractionDetails): boolean {
  return prompt.name === 'login';
}

/**
 * The page to which a browser returns after a sign-in for the issuer's own client. With `code`, shows that the user is
 * signed in. With `error`, shows that the page has expired. Without `code` and `error`, starts a sign-in.
 */
function showSignedIn({ issuer }: PageContext, ctx: PageRequest): void {
  const { code, error } = ctx.query;
  const language = languageOf(ctx);
  const { signedInTitle: title, signedInLead } = PAGE_TEXTS[language];
  if (code !== undefined) sendPage(ctx, { language, title, body: paragraphHtml(signedInLead) });
  else if (error !== undefined) sendExpired(ctx, language);
  else ctx.redirect(authorizationAddress(issuer, `${issuer}${SIGNED_IN_PATH}`));
}

function tokenOf(ctx: PageRequest): string {
  const { token } = ctx.query;
  return typeof token === 'string' ? token : '';
}
