/** Signing secrets in the format of Standard Webhooks: `whsec_` and the base64 of 24 to 64 bytes (R-I3). */
import { randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
const MIN_BYTES = 24;
const MAX_BYTES = 64;
const GENERATED_BYTES = 32;

export const SECRET_RULE = `must be ${PREFIX} followed by the base64 of ${MIN_BYTES} to ${MAX_BYTES} bytes`;

/** @returns true when the text is a signing secret of the form that `SECRET_RULE` states (R-I3). */
export function isSecret(text: string): boolean {
  if (!text.startsWith(PREFIX)) return false;
  const base64 = text.slice(PREFIX.length);
  const key = Buffer.from(base64, 'base64');
  // Compares the re-encoded key with the text, because Buffer decodes malformed base64 without an error.
  return key.toString('base64') === base64 && key.length >= MIN_BYTES && key.length <= MAX_BYTES;
}

/** @returns a random secret of 32 bytes (R-I3). */
export function generateSecret(): string {
  return PREFIX + randomBytes(GENERATED_BYTES).toString('base64');
}
