/** Creates a self-signed X.509 certificate for a name. */
import { generateKeyPairSync, sign } from 'node:crypto';

export interface Certificate {
  readonly key: string;
  /** The certificate. It is self-signed, so a client that trusts it as an authority accepts it. */
  readonly cert: string;
}

const ECDSA_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));

/** @returns a certificate valid from a year ago until `validUntil`. */
export function makeCertificate(name: string, validUntil = new Date(Date.now() + 86_400_000)): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = sequence(der(0x31, sequence(oid('2.5.4.3'), der(0x0c, Buffer.from(name)))));
  const names = sequence(der(0x82, Buffer.from(name)));
  const toSign = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_SHA256,
    subject,
    sequence(time(new Date(Date.now() - 365 * 86_400_000)), time(validUntil)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(oid('2.5.29.17'), der(0x04, names)))),
  );
  const signature = sign('sha256', toSign, privateKey);
  const certificate = sequence(toSign, ECDSA_SHA256, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  return {
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
}

function sequence(...members: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(members));
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  return der(0x06, Buffer.from([40 * first + second, ...rest.flatMap(toBase128)]));
}

function toBase128(value: number): readonly number[] {
  const digits = [value & 127];
  for (let left = value >> 7; left > 0; left >>= 7) digits.unshift((left & 127) | 128);
  return digits;
}

/** Encodes a date as a GeneralizedTime, to the second. */
function time(date: Date): Buffer {
  return der(0x18, Buffer.from(`${date.toISOString().replace(/\D/g, '').slice(0, 14)}Z`));
}
