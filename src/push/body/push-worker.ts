/**
 * Worker thread that reads large pushes for push-readers.ts. The worker keeps each push until it receives the message
 * `forget` with the id of the push.
 */
import { parentPort } from 'node:worker_threads';
import { DomainError } from '../../platform/errors.ts';
import type { EncodedPush, EncodeInput } from './encode-push.ts';
import type { PushLimits } from './push-element.ts';
import { type PushSummary, type ReadPush, readPush } from './read-push.ts';

export type PushRequest =
  | {
      readonly kind: 'read';
      readonly id: number;
      readonly bytes: Uint8Array;
      readonly limits: PushLimits;
      readonly withHash: boolean;
    }
  | { readonly kind: 'encode'; readonly id: number; readonly input: EncodeInput }
  | { readonly kind: 'elementTexts'; readonly id: number; readonly indexes: readonly number[] }
  | { readonly kind: 'forget'; readonly id: number };

export type PushReply =
  | { readonly kind: 'summary'; readonly id: number; readonly summary: PushSummary }
  | { readonly kind: 'encoded'; readonly id: number; readonly encoded: EncodedPush }
  | { readonly kind: 'elementTexts'; readonly id: number; readonly texts: readonly string[] }
  | { readonly kind: 'refused'; readonly id: number; readonly error: Pick<DomainError, 'code' | 'message' | 'details'> }
  | { readonly kind: 'failed'; readonly id: number; readonly error: unknown };

const pushes = new Map<number, ReadPush>();

parentPort?.on('message', (request: PushRequest) => {
  if (request.kind === 'forget') {
    pushes.delete(request.id);
    return;
  }
  const reply = answer(request);
  const transfer = reply.kind === 'encoded' ? [reply.encoded.tuples.buffer as ArrayBuffer] : [];
  parentPort?.postMessage(reply, transfer);
});

function answer(request: Exclude<PushRequest, { kind: 'forget' }>): PushReply {
  const { id } = request;
  try {
    switch (request.kind) {
      case 'read': {
        const push = readPush(request.bytes, request.limits, request.withHash);
        pushes.set(id, push);
        return { kind: 'summary', id, summary: push.summary };
      }
      case 'encode':
        return { kind: 'encoded', id, encoded: get(id).encode(request.input) };
      case 'elementTexts':
        return { kind: 'elementTexts', id, texts: get(id).elementTexts(request.indexes) };
    }
  } catch (error) {
    if (!(error instanceof DomainError)) return { kind: 'failed', id, error };
    const { code, message, details } = error;
    return { kind: 'refused', id, error: { code, message, details } };
  }
}

function get(id: number): ReadPush {
  const push = pushes.get(id);
  if (!push)
    throw new Error(`this worker holds no push with number ${id}: it was not parsed here, or it was already removed`);
  return push;
}
