/**
 * Client secrets in HTTP Basic. oidc-provider form-decodes each secret (RFC 6749 §2.3.1), but most clients, such as
 * `curl -u`, do not encode it. So a client is accepted if the decoded secret or the secret as sent is right.
 */
import Provider, { type KoaContextWithOIDC } from 'oidc-provider';
import { verifySecret } from '../../platform/secret-hash.ts';
import { PREVIOUS_SECRET_MEMBER } from './find-client.ts';

interface ClientSecrets {
  readonly clientSecret?: string | undefined;
  readonly [PREVIOUS_SECRET_MEMBER]?: string | undefined;
}

/** Replaces oidc-provider's comparison, because the stored secrets are hashes. `this` is the client. */
export async function compareClientSecret(this: ClientSecrets, decoded: string): Promise<boolean> {
  if (await isSecretOf(this, decoded)) return true;
  const raw = readBasic(Provider.ctx?.headers.authorization)?.secret;
  return raw !== undefined && raw !== decoded && isSecretOf(this, raw);
}

/** Whether `secret` is the current secret of the client, or the previous secret while that one is still valid. */
async function isSecretOf(client: ClientSecrets, secret: string): Promise<boolean> {
  if (await verifySecret(secret, client.clientSecret)) return true;
  const previous = client[PREVIOUS_SECRET_MEMBER];
  return previous !== undefined && verifySecret(secret, previous);
}

/**
 * Middleware that form-encodes Basic credentials that are not form-encoded. oidc-provider would refuse them before it
 * compares the secret.
 */
export async function encodeBasic(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  const basic = readBasic(ctx.headers.authorization);
  if (basic && !isFormEncoded(`${basic.clientId}${basic.secret}`)) {
    const credentials = `${encodeURIComponent(basic.clientId)}:${encodeURIComponent(basic.secret)}`;
    ctx.req.headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  }
  await next();
}

function readBasic(authorization: string | undefined) {
  const [, encoded] = /^Basic +(\S+)$/i.exec(authorization ?? '') ?? [];
  if (!encoded) return undefined;
  const [, clientId = '', secret = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  return { clientId, secret };
}

function isFormEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
