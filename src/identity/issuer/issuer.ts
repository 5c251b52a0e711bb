/**
 * The embedded token issuer (R-B2, R-B3): oidc-provider under Keycloak's paths. It issues; it does not decide what a
 * token allows (find-caller does) and does not verify tokens (verify-token does). The HTTP role mounts it.
 */
import type { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import Provider, { type errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { Config } from '../../config.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import { createTokenVerifier } from '../authentication/verify-token.ts';
import { compareClientSecret, encodeBasic } from '../clients/client-secret.ts';
import { ownClient } from '../clients/own-client.ts';
import { createEmbeddedDirectory } from '../directory/embedded-directory.ts';
import type { UserDirectory } from '../directory/user-directory.ts';
import { DEFAULT_KEY_POLICY, getIssuerKeys, type IssuerKeys } from '../keys/signing-keys.ts';
import { showMissing } from '../pages/error-page.ts';
import { issuerPages } from '../pages/issuer-pages.ts';
import type { PageContext } from '../pages/page-context.ts';
import { captureResponse } from './captured-response.ts';
import { answerPasswordGrant, type GrantContext, PASSWORD_GRANT_FIELDS } from './grants/issuer-grants.ts';
import {
  answerTokenExchange,
  type ExchangeContext,
  TOKEN_EXCHANGE_FIELDS,
  TOKEN_EXCHANGE_GRANT,
} from './grants/token-exchange.ts';
import { type IssuerContext, issuerConfiguration } from './issuer-configuration.ts';
import { issuerPaths, planIssuerPath } from './issuer-path-rules.ts';
import { issuerUrl } from './issuer-url.ts';
import { userinfo } from './userinfo.ts';

export interface Issuer {
  /** The `iss` of its tokens. */
  readonly url: string;
  /** Whether the path (without query, any slashes) is the issuer's. */
  handles(path: string): boolean;
  /** Answers a request whose path it handles. Its body must be unread. */
  handle(request: IncomingMessage): Promise<Response>;
  /** Looks whether other keys are due; to be called every few minutes. */
  refreshKeys(): Promise<void>;
}

export interface IssuerOptions {
  readonly config: Config;
  readonly database: Database;
  readonly log: Log;
  readonly clock?: Clock;
  /** Where passwords are administered; default: here. */
  readonly directory?: UserDirectory;
  /** Has waiting mails sent now. */
  readonly wakeMail?: () => void;
  /** Told of every change to what users sign in with, after its commit. */
  readonly invalidateAccess?: (userIds: readonly string[]) => Promise<void>;
  /** Told of every impersonation before it begins. */
  readonly onImpersonation?: ExchangeContext['onImpersonation'];
}

type Context = IssuerContext & ExchangeContext & PageContext;

/** Starts the issuer on a migrated database, making its keys at the first start. */
export async function createIssuer(options: IssuerOptions): Promise<Issuer> {
  const { config, database, log } = options;
  const context = createContext(options);
  const keyPolicy = { ...DEFAULT_KEY_POLICY, rotateAfterMs: config.SIGNING_KEY_DAYS * 86_400_000 };
  let keys = await getIssuerKeys(database, keyPolicy);
  let handle = handlerOf(createProvider(context, keys, log), context.issuer, config.REALM_ALIASES);
  return {
    url: context.issuer,
    handles: (path) => planIssuerPath(path, issuerPaths(context.issuer, config.REALM_ALIASES)) !== undefined,
    handle: (request) => handle(request),
    refreshKeys: async () => {
      const current = await getIssuerKeys(database, keyPolicy);
      if (kidsOf(current) === kidsOf(keys)) return;
      keys = current;
      handle = handlerOf(createProvider(context, keys, log), context.issuer, config.REALM_ALIASES);
      log.info({ kids: kidsOf(keys) }, 'the issuer uses other keys');
    },
  };
}

function createContext(options: IssuerOptions): Context {
  const { config, database, clock = systemClock } = options;
  const issuer = issuerUrl(config);
  const keys = { kind: 'database', database } as const;
  return {
    database,
    clock,
    issuer,
    policy: grantPolicy(config),
    ownClient: ownClient(issuer, config.RETURN_URLS),
    passwordMinLength: config.PASSWORD_MIN_LENGTH,
    directory: options.directory ?? createEmbeddedDirectory(issuer),
    wakeMail: options.wakeMail ?? (() => {}),
    invalidateAccess: options.invalidateAccess ?? (async () => {}),
    onImpersonation: options.onImpersonation ?? (async () => {}),
    verifier: createTokenVerifier({ issuers: [{ issuer, audience: config.TOKEN_AUDIENCE, keys }], clock }),
  };
}

function createProvider(context: Context, keys: IssuerKeys, log: Log): Provider {
  const provider = new Provider(context.issuer, issuerConfiguration(context, keys));
  provider.registerGrantType('password', (ctx) => answerPasswordGrant(context, ctx), PASSWORD_GRANT_FIELDS);
  provider.registerGrantType(TOKEN_EXCHANGE_GRANT, (ctx) => answerTokenExchange(context, ctx), TOKEN_EXCHANGE_FIELDS);
  provider.Client.prototype.compareClientSecret = compareClientSecret;
  provider.proxy = true;
  provider.use(passOnFaults);
  provider.use(answerInJson);
  provider.use(encodeBasic);
  provider.use(userinfo(context));
  provider.use(issuerPages(context, provider));
  logErrors(provider, log);
  return provider;
}

/** In their order: the first signs. */
function kidsOf({ jwks }: IssuerKeys): string {
  return jwks.keys.map(({ kid }) => kid).join();
}

function grantPolicy(config: Config): GrantContext['policy'] {
  return {
    audience: config.TOKEN_AUDIENCE,
    accessTokenTtlSec: config.ACCESS_TOKEN_TTL_SEC,
    refreshTokenTtlSec: config.REFRESH_TOKEN_TTL_SEC,
    maxFailures: config.SIGN_IN_MAX_FAILURES,
    lockSec: config.SIGN_IN_LOCK_SEC,
  };
}

/**
 * Two answers RFC 6749 §5.2 wants otherwise than oidc-provider gives them, and a JSON body where there is none
 * (R-A5).
 */
async function answerInJson(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  await next();
  const description = (ctx.body as { error_description?: string } | undefined)?.error_description;
  if (description === 'no client authentication mechanism provided') {
    ctx.status = 401;
    ctx.body = { error: 'invalid_client', error_description: description };
  } else if (description === 'requested grant type is not allowed for this client') {
    ctx.body = { error: 'unauthorized_client', error_description: description };
  } else if (ctx.status === 404 && !ctx.body && ctx.accepts('json', 'html') === 'html') {
    showMissing(ctx);
  } else if (ctx.status === 404 && !ctx.body) {
    ctx.status = 404;
    ctx.body = { error: 'not_found', error_description: `the token issuer has no ${ctx.method} ${ctx.path}` };
  }
}

const faults = new WeakMap<IncomingMessage, unknown>();

/** What fails in a page of ours is answered like everything else that fails, by whoever mounts the issuer. */
async function passOnFaults(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  try {
    await next();
  } catch (error) {
    faults.set(ctx.req, error);
  }
}

function logErrors(provider: Provider, log: Log): void {
  provider.on('server_error', (ctx: KoaContextWithOIDC, error: Error) =>
    log.error({ err: error, requestId: ctx.get('x-request-id') || undefined }, 'issuer failed'),
  );
  provider.on('grant.error', (ctx: KoaContextWithOIDC, error: errors.OIDCProviderError) =>
    log.info(
      {
        requestId: ctx.get('x-request-id') || undefined,
        error: error.error,
        reason: error.error_description,
        client: ctx.oidc.client?.clientId,
      },
      'no token given',
    ),
  );
  // Koa prints unhandled errors itself when nobody listens; its typings do not know the event.
  const koa: EventEmitter = provider;
  koa.on('error', (error: Error) => log.error({ err: error }, 'issuer failed'));
}

function handlerOf(provider: Provider, url: string, aliases: readonly string[]): Issuer['handle'] {
  const paths = issuerPaths(url, aliases);
  const { host, pathname, protocol } = new URL(url);
  const callback = provider.callback();
  return async (request) => {
    const [path = '', query] = splitOnce(request.url ?? '/', '?');
    const inner = `${planIssuerPath(path, paths) ?? '/'}${query === undefined ? '' : `?${query}`}`;
    // Addresses in answers are the canonical ones, whichever name, alias or proxy the request came through.
    request.headers.host = host;
    request.headers['x-forwarded-proto'] = protocol.replace(':', '');
    delete request.headers['x-forwarded-host'];
    const outer = Object.assign(request, { url: inner, originalUrl: `${pathname}${inner}` });
    const response = await captureResponse(callback, outer);
    if (faults.has(request)) throw faults.get(request);
    return response;
  };
}

function splitOnce(text: string, separator: string): readonly [string, string?] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
