/**
 * The pages inside an authorization that ask for a new password: the first one instead of a temporary one (R-B10), and a
 * change, which asks for the current one too when the session is older than five minutes (R-B13).
 */
import type Provider from 'oidc-provider';
import { withTransaction } from '../../platform/database/database.ts';
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

/** §5: who signed in longer ago is asked for the current password. */
const RECENT_SEC = 300;

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
    body: `${paragraphHtml(lead)}\n${form}`,
    status: problem ? 400 : 200,
    formTargets: formTargets(details),
  });
}

export async function takePassword(
  context: PageContext,
  provider: Provider,
  ctx: PageRequest,
  details: InteractionDetails,
  form: Form,
): Promise<void> {
  const user = await findInteractionUser(context, details);
  if (!user || user.isLocked) return sendUnknownInteraction(ctx);
  if (!(await isAllowed(context, provider, details, user, form))) {
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
  // Somebody who has just replaced a temporary password is not asked for another.
  await finishInteraction(provider, ctx, { [CHANGE_PASSWORD_PROMPT]: { isDone: true } });
}

/** A wrong current password counts like a wrong sign-in. */
async function isAllowed(
  { database, policy, clock }: PageContext,
  provider: Provider,
  details: InteractionDetails,
  { userId, userName }: TokenUser,
  { currentPassword = '' }: Form,
): Promise<boolean> {
  if (!(await isCurrentNeeded(provider, details))) return true;
  const result = await signIn(database, { userName, password: currentPassword }, policy, clock);
  return result.kind !== 'wrong_credentials' && result.userId === userId;
}

/** A temporary password has just been typed, or the session is old: neither asks twice within five minutes. */
async function isCurrentNeeded(provider: Provider, { session }: InteractionDetails): Promise<boolean> {
  const found = session?.uid === undefined ? undefined : await provider.Session.findByUid(session.uid);
  return found?.loginTs === undefined || Math.floor(Date.now() / 1000) - found.loginTs > RECENT_SEC;
}
