/**
 * The two password pages of an authorization: one replaces a temporary password (R-B10), the other changes a password
 * (R-B13).
 */

import { html } from 'hono/html';
import type Provider from 'oidc-provider';
import { withTransaction } from '../../platform/database/database.ts';
import { clientNetwork } from '../../platform/http/client-network.ts';
import type { TokenUser } from '../authentication/find-token-user.ts';
import { CHANGE_PASSWORD_PROMPT, FIRST_PASSWORD_PROMPT } from '../issuer/interaction-policy.ts';
import { choosePassword } from '../passwords/choose-password.ts';
import { signIn } from '../passwords/sign-in.ts';
import { paragraphHtml } from './form-html.ts';
import {
  findInteractionUser,
  finishInteraction,
  formTargets,
  type InteractionDetails,
  interactionLanguage,
  keptSession,
  sendUnknownInteraction,
} from './interaction.ts';
import { type PageContext, type PageRequest, sendPage } from './page-context.ts';
import { type FormProblem, passwordFormHtml } from './password-form.ts';
import type { Form } from './read-form.ts';
import { fillText, PAGE_TEXTS } from './texts/page-texts.ts';

/** For this many seconds after a sign-in, the user need not enter the current password (§5). */
const RECENT_SEC = 300;

/** Shows the password form. After a refused attempt, the form also shows `problem`. */
export async function showPassword(
  context: PageContext,
  provider: Provider,
  ctx: PageRequest,
  details: InteractionDetails,
  problem?: FormProblem,
): Promise<void> {
  const user = await findInteractionUser(context, details);
  if (!user) return sendUnknownInteraction(ctx);
  const language = interactionLanguage(ctx, details, user.language);
  const texts = PAGE_TEXTS[language];
  const isFirst = details.prompt.name === FIRST_PASSWORD_PROMPT;
  const lead = fillText(isFirst ? texts.firstLead : texts.changeLead, { userName: user.userName });
  const asksCurrent = await isCurrentNeeded(provider, details);
  const { passwordMinLength: minLength } = context;
  const form = passwordFormHtml({ language, minLength, asksCurrent, problem, userName: user.userName });
  sendPage(ctx, {
    language,
    title: isFirst ? texts.firstTitle : texts.changeTitle,
    body: html`${paragraphHtml(lead)}\n${form}`,
    status: problem ? 400 : 200,
    formTargets: formTargets(details),
  });
}

/** Handles the posted form: changes the password and continues the authorization. */
export async function takePassword(
  context: PageContext,
  provider: Provider,
  ctx: PageRequest,
  details: InteractionDetails,
  form: Form,
): Promise<void> {
  const user = await findInteractionUser(context, details);
  if (!user || user.isLocked) return sendUnknownInteraction(ctx);
  if (!(await isAllowed(context, provider, ctx, details, user, form))) {
    return showPassword(context, provider, ctx, details, 'wrong_password');
  }
  const { newPassword: password = '', repeatedPassword: repeated = '' } = form;
  const { database, passwordMinLength: minLength } = context;
  const chosen = { userId: user.userId, password, repeated, minLength, kept: keptSession(details) };
  const problem = await withTransaction(database, (transaction) => choosePassword(transaction, chosen));
  if (problem === 'gone') return sendUnknownInteraction(ctx);
  if (problem) return showPassword(context, provider, ctx, details, problem);
  await context.invalidateAccess([user.userId]);
  context.wakeMail();
  // Replacing a temporary password also counts as the password change that the client may have requested. Otherwise the
  // user would have to choose a new password twice.
  await finishInteraction(provider, ctx, { [CHANGE_PASSWORD_PROMPT]: { isDone: true } });
}

/** @returns false when the current password is required but wrong. A wrong password counts as a failed sign-in. */
async function isAllowed(
  { database, policy, clock }: PageContext,
  provider: Provider,
  ctx: PageRequest,
  details: InteractionDetails,
  { userId, userName }: TokenUser,
  { currentPassword = '' }: Form,
): Promise<boolean> {
  if (!(await isCurrentNeeded(provider, details))) return true;
  const network = clientNetwork(ctx.req, policy.proxyHops);
  const result = await signIn(database, { userName, password: currentPassword, network }, policy, clock);
  return result.kind !== 'wrong_credentials' && result.userId === userId;
}

/** @returns true when the last sign-in was more than five minutes ago, or when the time of that sign-in is unknown. */
async function isCurrentNeeded(provider: Provider, { session }: InteractionDetails): Promise<boolean> {
  const found = session?.uid === undefined ? undefined : await provider.Session.findByUid(session.uid);
  return found?.loginTs === undefined || Math.floor(Date.now() / 1000) - found.loginTs > RECENT_SEC;
}
