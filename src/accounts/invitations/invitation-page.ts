/**
 * The page of an invitation. The link in the invitation email opens the page. Opening the page does not accept the
 * invitation, because mail scanners follow links too. The button of the page accepts the invitation.
 */
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import { formHtml, type Html, linkHtml, paragraphHtml } from '../../identity/pages/form-html.ts';
import { renderPage } from '../../identity/pages/layout.ts';
import { isFromOwnPage } from '../../identity/pages/read-form.ts';
import { choosePageLanguage, fillText, PAGE_TEXTS, type PageLanguage } from '../../identity/pages/texts/page-texts.ts';
import { withTransaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { declareQuery } from '../../platform/http/query.ts';
import { textParameter } from '../../platform/http/query-parameters.ts';
import type { RequestIdEnv } from '../../platform/http/request-id.ts';
import { INVITATION_PATH } from '../mails/invitation-mail.ts';
import { findMailAccount } from '../mails/mail-values.ts';
import type { AccountServices } from '../services.ts';
import { acceptInvitation } from './accept-invitation.ts';
import { findOpenInvitation, type OpenInvitation } from './invitations.ts';

/** The token is the credential of the invited user. */
export const TOKEN = textParameter('Token from the link in the invitation email; the token works once.');
export const INVITATION_PAGE_QUERY = declareQuery({ token: TOKEN });

type Env = RequestIdEnv & { Bindings: HttpBindings };

/**
 * Routes of the page of an invitation (R-B10). Mount them before bearer authentication.
 * @param origin web origin of the service's own pages.
 */
export function invitationPage(services: AccountServices, origin: string): Hono<Env> {
  return new Hono<Env>()
    .get(INVITATION_PATH, (c) => show(c, services))
    .post(INVITATION_PATH, async (c) => {
      const headers = { 'sec-fetch-site': c.req.header('sec-fetch-site'), origin: c.req.header('origin') };
      return isFromOwnPage(headers, origin) ? accept(c, services) : sendExpired(c);
    });
}

async function show(c: Context<Env>, { database }: AccountServices): Promise<Response> {
  const invitation = await findOpenInvitation(database, tokenOf(c));
  const account = invitation && (await findMailAccount(database, invitation.accountId));
  if (!invitation || !account) return sendExpired(c);
  const language = choosePageLanguage(invitation.language);
  const texts = PAGE_TEXTS[language];
  const values = { accountName: account.name, email: invitation.email };
  const form = formHtml({ fields: [], button: texts.acceptInvitation });
  const body = html`${paragraphHtml(fillText(texts.invitationLead, values))}\n${form}`;
  return send(c, language, fillText(texts.invitationTitle, values), body);
}

async function accept(c: Context<Env>, services: AccountServices): Promise<Response> {
  const { database, directory, accessInvalidation, wakeMail } = services;
  const token = tokenOf(c);
  const invitation = await findOpenInvitation(database, token);
  if (!invitation) return sendExpired(c);
  try {
    const { userId } = await withTransaction(database, (transaction) =>
      acceptInvitation(transaction, directory, token, c.var.requestId),
    );
    wakeMail();
    await accessInvalidation.publish([userId]);
  } catch (error) {
    // The token became invalid after `findOpenInvitation`, for example because the user clicked twice.
    if (error instanceof DomainError && error.code === 'not_found') return sendExpired(c);
    if (error instanceof DomainError && error.code === 'conflict') return sendMismatch(c, invitation);
    throw error;
  }
  const language = choosePageLanguage(invitation.language);
  const texts = PAGE_TEXTS[language];
  const account = await findMailAccount(database, invitation.accountId);
  const title = fillText(texts.invitationTitle, { accountName: account?.name ?? '' });
  return send(
    c,
    language,
    title,
    html`${paragraphHtml(texts.invitationDone)}\n${linkHtml(directory.signInLink(), texts.signIn)}`,
  );
}

/**
 * Answers a conflict of `acceptInvitation`: says that the invitation does not match an existing user. The page gives no
 * reason, because a reason would reveal details of that user, who may belong to another account.
 */
function sendMismatch(c: Context<Env>, { language: userLanguage, email }: OpenInvitation): Response {
  const language = choosePageLanguage(userLanguage);
  const { failedTitle, mismatchLead } = PAGE_TEXTS[language];
  return send(c, language, failedTitle, paragraphHtml(fillText(mismatchLead, { email })), 409);
}

function sendExpired(c: Context<Env>): Response {
  const language = choosePageLanguage(c.req.header('accept-language'));
  const { expiredTitle, expiredLead } = PAGE_TEXTS[language];
  return send(c, language, expiredTitle, paragraphHtml(expiredLead), 400);
}

function send(
  c: Context<Env>,
  language: PageLanguage,
  title: string,
  body: Html,
  status: 200 | 400 | 409 = 200,
): Response {
  const page = renderPage({ language, title, body });
  return c.body(page.html, status, { ...page.headers });
}

function tokenOf(c: Context<Env>): string {
  return INVITATION_PAGE_QUERY.parse(c.req.url).token ?? '';
}
