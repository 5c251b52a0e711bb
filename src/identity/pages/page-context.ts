/** Services and settings that the issuer's pages use, and functions that send a page. */
import { html } from 'hono/html';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { UserDirectory } from '../directory/user-directory.ts';
import type { SignInPolicy } from '../passwords/sign-in-sources.ts';
import { type Html, paragraphHtml } from './form-html.ts';
import { type Page, renderPage } from './layout.ts';
import { choosePageLanguage, PAGE_TEXTS, type PageLanguage } from './texts/page-texts.ts';

export interface PageContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly policy: SignInPolicy;
  /** URL of the issuer: the value of the claim `iss` in the issuer's tokens. */
  readonly issuer: string;
  readonly passwordMinLength: number;
  readonly directory: UserDirectory;
  /** Makes the mail sender send queued emails now. */
  readonly wakeMail: () => void;
  /**
   * Invalidates the cached access of the given users in all processes. Call this function after the commit of the
   * transaction that changes the passwords of these users.
   */
  readonly invalidateAccess: (userIds: readonly string[]) => Promise<void>;
}

export type PageRequest = KoaContextWithOIDC;

/** Handler of a page: answers a request with HTML. */
export type AnswerPage = (context: PageContext, provider: Provider, ctx: PageRequest) => Promise<void>;

const EXPIRED_STATUS = 400;

export interface SentPage extends Page {
  readonly status?: number;
  readonly formTargets?: readonly string[];
}

/** Answers with a page; the default status is 200. */
export function sendPage(ctx: PageRequest, { status = 200, formTargets = [], ...page }: SentPage): void {
  const rendered = renderPage(page, formTargets);
  ctx.status = status;
  for (const [name, value] of Object.entries(rendered.headers)) ctx.set(name, value);
  ctx.body = rendered.html;
}

/**
 * Answers 400: the link or page has expired, was used, or belongs to another browser, or the form was not posted from
 * its page. The answer does not say which of these applies.
 * @param below HTML that the page shows below the message, to tell the user what to do.
 */
export function sendExpired(ctx: PageRequest, language: PageLanguage, below: Html | '' = ''): void {
  if (ctx.accepts('html', 'json') === 'json') {
    ctx.status = EXPIRED_STATUS;
    const message =
      'the link or page was used already, has expired, was replaced by a newer one, or belongs to another browser; it is also refused when the user is locked or when another site posts the form; use the newest link, or start again';
    ctx.body = { code: 'invalid_input', message, requestId: ctx.get('x-request-id') };
    return;
  }
  const { expiredTitle: title, expiredLead } = PAGE_TEXTS[language];
  sendPage(ctx, { status: EXPIRED_STATUS, language, title, body: html`${paragraphHtml(expiredLead)}\n${below}` });
}

/** @returns the first supported language of `ui_locales`, the user's language and `Accept-Language`; else English. */
export function languageOf(ctx: PageRequest, userLanguage?: string | null, uiLocales?: unknown): PageLanguage {
  const requested = typeof uiLocales === 'string' ? uiLocales : undefined;
  return choosePageLanguage(requested, userLanguage, ctx.get('accept-language'));
}
