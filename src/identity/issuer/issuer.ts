/**
 * The embedded token issuer (R-B2, R-B3): oidc-provider under Keycloak's paths. It issues tokens; verify-token.ts
 * verifies them and find-caller.ts decides what they allow. The api role mounts it with `issuerRoutes`.
 */
import type { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import Provider, { type AdapterPayload, type errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { Config } from '../../config.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { RequestIdEnv } from '../../platform/http/request-id.ts';
import type { Log } from '../../platform/log.ts';
import { signInPolicy } from '../authentication/exchange-password.ts';
import { createTokenVerifier } from '../authentication/verify-token.ts';
import { compareClientSecret, encodeBasic } from '../clients/client-secret.ts';
import { ALLOWED_SCOPES_MEMBER, clientFinder } from '../clients/find-client.ts';
import { ACCOUNT_CLIENT_ID, createEmbeddedDirectory, SIGNED_IN_PATH } from '../directory/embedded-directory.ts';
import type { UserDirectory } from '../directory/user-directory.ts';
import { DEFAULT_KEY_POLICY, getIssuerKeys, type IssuerKeys } from '../keys/signing-keys.ts';
import { issuerPages } from '../pages/issuer-pages.ts';
import type { PageContext } from '../pages/page-context.ts';
import { showMissing } from '../pages/provider-pages.ts';
import { captureResponse, failCapturedResponse } from './captured-response.ts';
import {
  answerPasswordGrant,
  answerScopeNames,
  type GrantContext,
  PASSWORD_GRANT_FIELDS,
} from './grants/issuer-grants.ts';
import {
  answerTokenExchange,
  type ExchangeContext,
  TOKEN_EXCHANGE_FIELDS,
  TOKEN_EXCHANGE_GRANT,
} from './grants/token-exchange.ts';
import { parseScopes } from './grants/token-request-rules.ts';
import { type IssuerContext, issuerConfiguration } from './issuer-configuration.ts';
import { issuerPaths, planIssuerPath } from './issuer-path-rules.ts';
import { apiUrl, issuerUrl } from './issuer-url.ts';
import { userinfo } from './userinfo.ts';

export interface Issuer {
  /** URL of the issuer; the claim `iss` of its tokens has this value. */
  readonly url: string;
  /**
   * Returns true when the path belongs to the issuer.
   * @param path path of a request, without the query; the path may have repeated and trailing slashes.
   */
  handles(path: string): boolean;
  /** Answers a request to a path of the issuer. The body of the request must not have been read. */
  handle(request: IncomingMessage): Promise<Response>;
  /**
   * Rotates the signing keys if their rotation is due. Then uses the stored keys, which another process may have
   * rotated. Call it every few minutes.
   */
  refreshKeys(): Promise<void>;
}

export interface IssuerOptions {
  readonly config: Config;
  readonly database: Database;
  readonly log: Log;
  readonly clock?: Clock;
  /** The directory that administers passwords; default: the embedded issuer's. */
  readonly directory?: UserDirectory;
  /** Makes the mail sender send queued emails now. */
  readonly wakeMail?: () => void;
  /** Invalidates the cached access of these users in all processes; called after the commit of a changed password. */
  readonly invalidateAccess?: (userIds: readonly string[]) => Promise<void>;
  /** Called before every impersonation; when it throws, no token is issued. */
  readonly onImpersonation?: ExchangeContext['onImpersonation'];
}

type Context = IssuerContext & ExchangeContext & PageContext;

/** Starts the issuer on a migrated database; the first start makes its keys (R-B2). */
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
      log.info({ kids: kidsOf(keys) }, 'the signing keys of the issuer changed');
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
    findClient: clientFinder(database, ownClient(issuer, config.RETURN_URLS), apiUrl(config)),
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
  acceptScopeAliases(provider);
  provider.proxy = true;
  provider.use(passOnFailures);
  provider.use(answerInJson);
  provider.use(encodeBasic);
  provider.use(answerScopeNames);
  provider.use(userinfo(context));
  provider.use(issuerPages(context, provider));
  handleErrors(provider, log);
  return provider;
}

/**
 * Makes oidc-provider's own grants (refresh, authorization code) accept aliases of scopes, as the password grant does.
 */
function acceptScopeAliases({ OIDCContext }: Provider): void {
  const requested = Object.getOwnPropertyDescriptor(OIDCContext.prototype, 'requestParamScopes');
  if (!requested) throw new Error('oidc-provider has no OIDCContext.requestParamScopes');
  Object.defineProperty(OIDCContext.prototype, 'requestParamScopes', {
    ...requested,
    get(this: { readonly params?: { readonly scope?: string } }) {
      return parseScopes(this.params?.scope);
    },
  });
}

/** @returns the ids of the keys, joined in the order of the key set. The first key signs, so the order matters. */
function kidsOf({ jwks }: IssuerKeys): string {
  return jwks.keys.map(({ kid }) => kid).join();
}

function grantPolicy(config: Config): GrantContext['policy'] {
  return {
    audience: config.TOKEN_AUDIENCE,
    accessTokenTtlSec: config.ACCESS_TOKEN_TTL_SEC,
    refreshTokenTtlSec: config.REFRESH_TOKEN_TTL_SEC,
    ...signInPolicy(config),
  };
}

/** Makes two answers of oidc-provider follow RFC 6749 §5.2, and gives an empty 404 answer a body (R-A5). */
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
    ctx.body = {
      error: 'not_found',
      error_description: `the token issuer has no ${ctx.method} ${ctx.path}; see .well-known/openid-configuration`,
    };
  }
}

/** Hands an error from outside oidc-provider, for example from a page, to the app that mounts the issuer. */
async function passOnFailures(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  try {
    await next();
  } catch (error) {
    failCapturedResponse(ctx.res, error);
  }
}

/**
 * Logs refused token requests, and hands unexpected errors, for example of the database, to the app that mounts the
 * issuer. The app logs them, and answers 503 when a dependency is unavailable (R-A5); oidc-provider would answer 500.
 */
function handleErrors(provider: Provider, log: Log): void {
  provider.on('server_error', (ctx: KoaContextWithOIDC, error: Error) => failCapturedResponse(ctx.res, error));
  provider.on('grant.error', (ctx: KoaContextWithOIDC, error: errors.OIDCProviderError) =>
    log.info(
      {
        requestId: ctx.get('x-request-id') || undefined,
        error: error.error,
        reason: error.error_description,
        client: ctx.oidc.client?.clientId,
      },
      'token request refused',
    ),
  );
  // Without a listener for `error`, Koa prints unhandled errors itself. The typings of Koa omit this event.
  const koa: EventEmitter = provider;
  koa.on('error', (error: Error, ctx?: KoaContextWithOIDC) =>
    log.error({ err: error, requestId: ctx?.get('x-request-id') || undefined }, 'the token issuer failed'),
  );
}

function handlerOf(provider: Provider, url: string, aliases: readonly string[]): Issuer['handle'] {
  const paths = issuerPaths(url, aliases);
  const { host, pathname, protocol } = new URL(url);
  const callback = provider.callback();
  return async (request) => {
    const [path = '', query] = splitOnce(request.url ?? '/', '?');
    const inner = `${planIssuerPath(path, paths) ?? '/'}${query === undefined ? '' : `?${query}`}`;
    // URLs in answers are canonical, whatever host name, realm alias or proxy the request used.
    request.headers.host = host;
    request.headers['x-forwarded-proto'] = protocol.replace(':', '');
    delete request.headers['x-forwarded-host'];
    const outer = Object.assign(request, { url: inner, originalUrl: `${pathname}${inner}` });
    return captureResponse(callback, outer);
  };
}

function splitOnce(text: string, separator: string): readonly [string, string?] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/**
 * Describes the OAuth client that the issuer's own pages use: a public client that may request no scope of the service.
 * @param returnUrls URLs to which a password change may return the user, besides the issuer's own page.
 */
function ownClient(issuer: string, returnUrls: readonly string[]): AdapterPayload {
  return {
    client_id: ACCOUNT_CLIENT_ID,
    client_name: 'Tidemark',
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code'],
    response_types: ['code'],
    redirect_uris: [`${issuer}${SIGNED_IN_PATH}`, ...returnUrls],
    [ALLOWED_SCOPES_MEMBER]: '',
  };
}

type IssuerEnv = RequestIdEnv & { Bindings: HttpBindings };

/**
 * Wraps the issuer as a Hono app. Mount this app at the root of the HTTP app. Requests whose path does not belong to
 * the issuer are passed on to the next handler. Earlier middleware must not read the body of a request to the issuer.
 */
export function issuerRoutes(issuer: Issuer): Hono<IssuerEnv> {
  const app = new Hono<IssuerEnv>();
  app.use('*', async (c, next) => {
    if (!issuer.handles(c.req.path)) return next();
    // The issuer reads the request id from this header of the Node request. Middleware may have made or replaced the id
    // without changing this header (R-A10).
    c.env.incoming.headers['x-request-id'] = c.var.requestId;
    const response = await issuer.handle(c.env.incoming);
    // `newResponse` keeps the headers that middleware has set; a bare Response would lose them.
    return c.newResponse(response.body, response);
  });
  return app;
}
