/** Keys that deliveries are signed with, as Standard Webhooks writes them: `whsec_` and base64 of 24 to 64 bytes (R-I3). */
import { randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
const MIN_BYTES = 24;
const MAX_BYTES = 64;
const MADE_BYTES = 32;

export const SECRET_RULE = `must be ${PREFIX} and the base64 of ${MIN_BYTES} to ${MAX_BYTES} bytes`;

export function isSecret(text: string): boolean {
  if (!text.startsWith(PREFIX)) return false;
  const base64 = text.slice(PREFIX.length);
  const key = Buffer.from(base64, 'base64');
  // What Buffer skips or completes another library may refuse.
  return key.toString('base64') === base64 && key.length >= MIN_BYTES && key.length <= MAX_BYTES;
}

export function makeSecret(): string {
  return PREFIX + randomBytes(MADE_BYTES).toString('base64');
}
