/** What the pages of the issuer work with, and how they answer. */
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { UserDirectory } from '../directory/user-directory.ts';
import type { SignInPolicy } from '../passwords/sign-in.ts';
import { paragraphHtml } from './form-html.ts';
import { type Page, renderPage } from './layout.ts';
import { choosePageLanguage, PAGE_TEXTS, type PageLanguage } from './texts/page-texts.ts';

export interface PageContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly policy: SignInPolicy;
  /** Address of the issuer. */
  readonly issuer: string;
  readonly passwordMinLength: number;
  readonly directory: UserDirectory;
  /** Has waiting mails sent now. */
  readonly wakeMail: () => void;
  /** Tells all processes that what these users sign in with has changed; call it once that is committed. */
  readonly invalidateAccess: (userIds: readonly string[]) => Promise<void>;
}

export type PageRequest = KoaContextWithOIDC;

/** A page handler. */
export type AnswerPage = (context: PageContext, provider: Provider, ctx: PageRequest) => Promise<void>;

const EXPIRED_STATUS = 400;

export interface SentPage extends Page {
  readonly status?: number;
  readonly formTargets?: readonly string[];
}

export function sendPage(ctx: PageRequest, { status = 200, formTargets = [], ...page }: SentPage): void {
  const { html, headers } = renderPage(page, formTargets);
  ctx.status = status;
  for (const [name, value] of Object.entries(headers)) ctx.set(name, value);
  ctx.body = html;
}

/**
 * Says that a link or a page is too old, used, or of another browser: which of them is nobody's business.
 * @param below HTML of what one can do about it.
 */
export function sendExpired(ctx: PageRequest, language: PageLanguage, below = ''): void {
  if (ctx.accepts('html', 'json') === 'json') {
    ctx.status = EXPIRED_STATUS;
    const message = 'the link or the page was used already, is too old, or belongs to another browser';
    ctx.body = { code: 'invalid_input', message, requestId: ctx.get('x-request-id') };
    return;
  }
  const { expiredTitle: title, expiredLead } = PAGE_TEXTS[language];
  sendPage(ctx, { status: EXPIRED_STATUS, language, title, body: `${paragraphHtml(expiredLead)}\n${below}` });
}

/** @param userLanguage of the user, where there is one. */
export function languageOf(ctx: PageRequest, userLanguage?: string | null, uiLocales?: unknown): PageLanguage {
  const wished = typeof uiLocales === 'string' ? uiLocales : undefined;
  return choosePageLanguage(wished, userLanguage, ctx.get('accept-language'));
}
