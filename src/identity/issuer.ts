/**
 * The embedded token issuer (R-B2, R-B3): oidc-provider under Keycloak's paths. It issues; it does not decide what a
 * token allows (find-caller does) and does not verify tokens (verify-token does). The HTTP role mounts it.
 */
import type { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import Provider, { type errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { Config } from '../config.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import type { Log } from '../platform/log.ts';
import { captureResponse } from './captured-response.ts';
import { compareClientSecret, encodeBasic } from './client-secret.ts';
import { issuerConfiguration } from './issuer-configuration.ts';
import { answerPasswordGrant, type GrantContext, PASSWORD_GRANT_FIELDS } from './issuer-grants.ts';
import { issuerPaths, planIssuerPath } from './issuer-path-rules.ts';
import { issuerUrl } from './issuer-url.ts';
import { getIssuerKeys } from './signing-keys.ts';

export interface Issuer {
  /** The `iss` of its tokens. */
  readonly url: string;
  /** Whether the path (without query, any slashes) is the issuer's. */
  handles(path: string): boolean;
  /** Answers a request whose path it handles. Its body must be unread. */
  handle(request: IncomingMessage): Promise<Response>;
}

export interface IssuerOptions {
  readonly config: Config;
  readonly database: Database;
  readonly log: Log;
  readonly clock?: Clock;
}

/** Starts the issuer on a migrated database, making its keys at the first start. */
export async function createIssuer({ config, database, log, clock = systemClock }: IssuerOptions): Promise<Issuer> {
  const url = issuerUrl(config);
  const context: GrantContext = { database, clock, policy: grantPolicy(config) };
  const provider = new Provider(url, issuerConfiguration(context, await getIssuerKeys(database)));
  provider.registerGrantType('password', (ctx) => answerPasswordGrant(context, ctx), PASSWORD_GRANT_FIELDS);
  provider.Client.prototype.compareClientSecret = compareClientSecret;
  provider.proxy = true;
  provider.use(answerInJson);
  provider.use(encodeBasic);
  logErrors(provider, log);
  return mount(provider, url, config.REALM_ALIASES);
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
  } else if (ctx.status === 404 && !ctx.body) {
    ctx.status = 404;
    ctx.body = { error: 'not_found', error_description: `the token issuer has no ${ctx.method} ${ctx.path}` };
  }
}

function logErrors(provider: Provider, log: Log): void {
  provider.on('server_error', (_ctx: KoaContextWithOIDC, error: Error) => log.error({ err: error }, 'issuer failed'));
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

function mount(provider: Provider, url: string, aliases: readonly string[]): Issuer {
  const paths = issuerPaths(url, aliases);
  const { host, pathname, protocol } = new URL(url);
  const callback = provider.callback();
  return {
    url,
    handles: (path) => planIssuerPath(path, paths) !== undefined,
    async handle(request) {
      const [path = '', query] = splitOnce(request.url ?? '/', '?');
      const inner = `${planIssuerPath(path, paths) ?? '/'}${query === undefined ? '' : `?${query}`}`;
      // Addresses in answers are the canonical ones, whichever name, alias or proxy the request came through.
      request.headers.host = host;
      request.headers['x-forwarded-proto'] = protocol.replace(':', '');
      delete request.headers['x-forwarded-host'];
      return captureResponse(callback, Object.assign(request, { url: inner, originalUrl: `${pathname}${inner}` }));
    },
  };
}

function splitOnce(text: string, separator: string): readonly [string, string?] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
