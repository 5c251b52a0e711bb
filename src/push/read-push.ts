/**
 * A push from its bytes to its tuples, in two steps: between them the caller finds out what its identifiers and labels
 * mean. Runs where it is called: small ones on the event loop, large ones in a worker (push-readers.ts).
 */
import { createHash } from 'node:crypto';
import { DomainError } from '../platform/errors.ts';
import { decodeText, parseJson } from '../platform/http-body.ts';
import { invalidInput } from '../platform/lenient.ts';
import type { Labels } from '../points/label-rules.ts';
import { type EncodedPush, type EncodeInput, encodePush } from './encode-push.ts';
import { parsePush } from './parse-push-rules.ts';
import type { PushLimits, TargetIdentifiers } from './push-element.ts';

/** What of a push is asked about elsewhere. */
export interface PushSummary {
  readonly targets: readonly TargetIdentifiers[];
  readonly labelTable: readonly Labels[];
  /** SHA-256 of the body, where it was asked for. */
  readonly bodyHash: Buffer | undefined;
}

export interface ReadPush {
  readonly summary: PushSummary;
  encode(input: EncodeInput): EncodedPush;
  /** Elements as JSON, by their places in the body. */
  elementTexts(places: readonly number[]): readonly string[];
}

/**
 * @param withHash whether the body may be sent again under the same label.
 * @throws DomainError malformed_json, invalid_input naming every place, body_too_large naming the limit (R-D1, R-D10).
 */
export function readPush(bytes: Uint8Array, limits: PushLimits, withHash: boolean): ReadPush {
  const body = parseJson(decodeText(bytes)) as readonly unknown[];
  const parsed = parsePush(body, limits);
  switch (parsed.kind) {
    case 'ok': {
      const { contents } = parsed;
      const bodyHash = withHash ? createHash('sha256').update(bytes).digest() : undefined;
      return {
        summary: { targets: contents.targets, labelTable: contents.labelTable, bodyHash },
        encode: (input) => encodePush(contents, input),
        elementTexts: (places) => places.map((place) => JSON.stringify(body[place])),
      };
    }
    case 'invalid':
      throw invalidInput(parsed.details);
    case 'too_large':
      throw new DomainError('body_too_large', parsed.message);
  }
}
