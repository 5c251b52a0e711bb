/** A forgotten password: the page that requests a link by email, and the page the link opens (R-B11). */
import { setTimeout as pause } from 'node:timers/promises';
import { html } from 'hono/html';
import type Provider from 'oidc-provider';
import { type Queryable, withTransaction } from '../../platform/database/database.ts';
import { isStorableText } from '../../platform/database/storable-text.ts';
import { countRecentMails } from '../../platform/mail/mail-outbox.ts';
import type { DirectoryUser } from '../directory/user-directory.ts';
import { choosePassword } from '../passwords/choose-password.ts';
import { deletePasswordReset, findResetUserName, lockPasswordReset } from '../passwords/password-reset.ts';
import { formHtml, linkHtml, paragraphHtml } from './form-html.ts';
import { languageOf, type PageContext, type PageRequest, sendExpired, sendPage } from './page-context.ts';
import { type FormProblem, passwordFormHtml } from './password-form.ts';
import type { Form } from './read-form.ts';
import { fillText, PAGE_TEXTS, type PageLanguage } from './texts/page-texts.ts';

/** Shows the form that asks for a user name or email address (R-B11). */
export async function showForgot(_context: PageContext, _provider: Provider, ctx: PageRequest): Promise<void> {
  const language = languageOf(ctx);
  const texts = PAGE_TEXTS[language];
  const form = formHtml({
    fields: [{ name: 'username', label: texts.userNameOrMail, type: 'text', autocomplete: 'username', isFirst: true }],
    button: texts.sendLink,
  });
  sendPage(ctx, { language, title: texts.forgotTitle, body: html`${paragraphHtml(texts.forgotLead)}\n${form}` });
}

/**
 * Maximum number of emails to a user within RESET_PERIOD_SEC. Anyone who knows the user name can request emails.
 * Concurrent requests can exceed the maximum.
 */
const MAX_RESETS = 3;
const RESET_PERIOD_SEC = 900;

/** Minimum time until the answer is sent, in milliseconds; far longer than it takes to queue an email. */
const FORGOT_MIN_MS = 300;

/**
 * Queues an email to each user that `username` refers to, within the limit of MAX_RESETS (R-B11). The answer and its
 * delay must not reveal whether a user exists, so the answer waits for FORGOT_MIN_MS.
 */
export async function takeForgot(context: PageContext, ctx: PageRequest, { username = '' }: Form): Promise<void> {
  const language = languageOf(ctx);
  const texts = PAGE_TEXTS[language];
  await Promise.all([queueResets(context, username.trim()), pause(FORGOT_MIN_MS)]);
  sendPage(ctx, { language, title: texts.forgotTitle, body: paragraphHtml(texts.forgotDone) });
}

async function queueResets({ database, directory, wakeMail }: PageContext, name: string): Promise<void> {
  await withTransaction(database, async (transaction) => {
    for (const user of await findUsers(transaction, name)) {
      const recent = await countRecentMails(transaction, user.userId, 'password_reset', RESET_PERIOD_SEC);
      if (recent < MAX_RESETS) await directory.sendPasswordReset(transaction, user);
    }
  });
  wakeMail();
}

/** Shows the form for a new password, or a page that says that the link has expired (R-B11). */
export async function showReset(
  context: PageContext,
  ctx: PageRequest,
  token: string,
  problem?: FormProblem,
): Promise<void> {
  const language = languageOf(ctx);
  const userName = await findResetUserName(context.database, token);
  if (userName === undefined) return sendExpiredLink(context, ctx, language);
  const { passwordMinLength: minLength } = context;
  // The form posts to the page's own URL. This URL contains the token.
  const form = passwordFormHtml({ language, minLength, asksCurrent: false, problem, userName });
  const { resetTitle: title, resetLead } = PAGE_TEXTS[language];
  const body = html`${paragraphHtml(fillText(resetLead, { userName }))}\n${form}`;
  sendPage(ctx, { language, title, body, status: problem ? 400 : 200 });
}

function sendExpiredLink({ issuer }: PageContext, ctx: PageRequest, language: PageLanguage): void {
  sendExpired(ctx, language, linkHtml(`${issuer}/forgot-password`, PAGE_TEXTS[language].askAgain));
}

/** Handles the posted form (R-B11). Does not sign the user in. */
export async function takeReset(context: PageContext, ctx: PageRequest, token: string, form: Form): Promise<void> {
  const { newPassword: password = '', repeatedPassword: repeated = '' } = form;
  const { passwordMinLength: minLength, issuer } = context;
  const outcome = await changeByLink(context, token, { password, repeated, minLength });
  const language = languageOf(ctx);
  if (outcome === 'gone') return sendExpiredLink(context, ctx, language);
  if (outcome !== undefined) return showReset(context, ctx, token, outcome);
  context.wakeMail();
  const texts = PAGE_TEXTS[language];
  const body = html`${paragraphHtml(texts.resetDone)}\n${linkHtml(`${issuer}/signed-in`, texts.signIn)}`;
  sendPage(ctx, { language, title: texts.resetDoneTitle, body });
}

/** Changes the password and makes the link unusable. If the password is refused, the link stays usable. */
async function changeByLink(
  { database, invalidateAccess }: PageContext,
  token: string,
  chosen: { readonly password: string; readonly repeated: string; readonly minLength: number },
) {
  const { problem, changed = [] } = await withTransaction(database, async (transaction) => {
    const reset = await lockPasswordReset(transaction, token);
    if (!reset) return { problem: 'gone' } as const;
    const { userId, sentTo } = reset;
    const found = await choosePassword(transaction, { userId, ...chosen, sentTo });
    if (found) return { problem: found };
    await deletePasswordReset(transaction, userId);
    return { problem: undefined, changed: [userId] };
  });
  await invalidateAccess(changed);
  return problem;
}

/**
 * Finds the user with the name `wanted`, and the user with the email address `wanted`. If several users without this
 * name share the address, none of them is found. Ignores locked users and users without an address.
 */
async function findUsers(database: Queryable, wanted: string): Promise<readonly DirectoryUser[]> {
  if (wanted === '' || !isStorableText(wanted)) return [];
  const { rows } = await database.query<DirectoryUser>(
    `select id as "userId", user_name as "userName", email, first_name as "firstName", last_name as "lastName", language
     from app_user
     where (lower(user_name) = lower($1) or lower(email) = lower($1)) and email is not null
       and not (is_locked and coalesce(locked_until > now(), true))
     order by lower(user_name) = lower($1) desc limit 3`,
    [wanted],
  );
  const named = rows.filter(({ userName }) => userName.toLowerCase() === wanted.toLowerCase());
  const others = rows.filter((user) => !named.includes(user));
  return others.length === 1 ? [...named, ...others] : named;
}
