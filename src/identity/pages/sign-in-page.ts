/** The page that asks for user name and password (R-B2). */

import { html } from 'hono/html';
import type Provider from 'oidc-provider';
import { clientNetwork } from '../../platform/http/client-network.ts';
import { findTokenUser } from '../authentication/find-token-user.ts';
import { signIn } from '../passwords/sign-in.ts';
import type { SignInPolicy } from '../passwords/sign-in-sources.ts';
import { formHtml, linkHtml, paragraphHtml } from './form-html.ts';
import { finishInteraction, formTargets, type InteractionDetails, interactionLanguage } from './interaction.ts';
import { type PageContext, type PageRequest, sendPage } from './page-context.ts';
import type { Form } from './read-form.ts';
import { fillText, PAGE_TEXTS } from './texts/page-texts.ts';

type Problem = 'wrongCredentials' | 'locked';

interface SignInPage {
  readonly problem?: Problem;
  readonly userName?: string;
}

/** Shows the sign-in form (R-B2). After a refused attempt, the form also names the problem. */
export async function showSignIn(
  { issuer, policy }: PageContext,
  provider: Provider,
  ctx: PageRequest,
  details: InteractionDetails,
  { problem, userName }: SignInPage = {},
): Promise<void> {
  const language = interactionLanguage(ctx, details);
  const texts = PAGE_TEXTS[language];
  const hint = details.params.login_hint;
  const known = userName ?? (typeof hint === 'string' ? hint : '');
  const client = await provider.Client.find(String(details.params.client_id));
  const name = client?.clientName ?? client?.clientId ?? '';
  const form = formHtml({
    fields: [
      {
        name: 'username',
        label: texts.userName,
        type: 'text',
        autocomplete: 'username',
        value: known,
        isFirst: known === '',
      },
      {
        name: 'password',
        label: texts.password,
        type: 'password',
        autocomplete: 'current-password',
        isFirst: known !== '',
      },
    ],
    button: texts.signIn,
    problem: problem && texts[problem],
    // This advice is shown after every wrong attempt, so it reveals neither that the user exists nor that sign-in is
    // blocked.
    advice: problem === 'wrongCredentials' ? fillText(texts.pause, pauseOf(policy)) : undefined,
  });
  const lead = paragraphHtml(fillText(texts.signInLead, { client: name }));
  sendPage(ctx, {
    language,
    title: texts.signInTitle,
    body: html`${lead}\n${form}\n${linkHtml(`${issuer}/forgot-password`, texts.forgot)}`,
    status: problem ? 401 : 200,
    formTargets: formTargets(details),
  });
}

function pauseOf({ maxFailures, lockSec }: SignInPolicy) {
  return { count: maxFailures, minutes: Math.ceil(lockSec / 60) };
}

/** Handles the posted form: signs the user in and continues the authorization (R-B2). */
export async function takeSignIn(
  context: PageContext,
  provider: Provider,
  ctx: PageRequest,
  details: InteractionDetails,
  { username = '', password = '' }: Form,
): Promise<void> {
  const { database, policy, clock } = context;
  const refuse = (problem: Problem) => showSignIn(context, provider, ctx, details, { problem, userName: username });
  const network = clientNetwork(ctx.req, policy.proxyHops);
  const result = await signIn(database, { userName: username, password, network }, policy, clock);
  if (result.kind === 'wrong_credentials') return refuse('wrongCredentials');
  const user = await findTokenUser(database, result.userId, undefined, new Date(clock.nowMillis()));
  if (!user || user.isLocked) return refuse('locked');
  if (details.session && details.session.accountId !== result.userId) await leaveSession(provider, details);
  const ts = Math.floor(Date.now() / 1000);
  await finishInteraction(provider, ctx, { login: { accountId: result.userId, ts, amr: ['pwd'] } });
}

/** Ends the session of the user who was signed in before, and detaches the interaction from that session. */
async function leaveSession(provider: Provider, details: InteractionDetails): Promise<void> {
  const uid = details.session?.uid;
  const session = uid === undefined ? undefined : await provider.Session.findByUid(uid);
  await session?.destroy();
  delete details.session;
  await details.save(details.exp - Math.floor(Date.now() / 1000));
}
