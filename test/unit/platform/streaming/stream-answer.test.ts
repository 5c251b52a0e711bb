/**
 * Tests which answers are streamed, which are sent whole, and what is sent when an error occurs before the answer has
 * begun (R-G4). The integration tests of the read routes cover slow clients and clients that disconnect.
 */
import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { isStreamed } from '../../../../src/platform/http/streamed-answer.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { streamAnswer } from '../../../../src/platform/streaming/stream-answer.ts';

const SERVICES = {
  log: createLog('silent', 'test'),
  readPace: { stallMs: 60_000, minBytesPerSec: 0, maxMs: 60_000 },
};

/** Answers a request with `pieces`. When an element is an Error, it is thrown instead of sent. */
async function answer(pieces: readonly (string | Error)[], wholeBytes?: number) {
  const app = new Hono();
  let wasStreamed: boolean | undefined;
  app.onError((error, c) => c.text(error.message, 500));
  app.get('/', async (c) => {
    const write = async function* () {
      for (const piece of pieces) {
        if (piece instanceof Error) throw piece;
        yield Buffer.from(piece);
      }
    };
    const options = wholeBytes === undefined ? {} : { wholeBytes };
    const response = await streamAnswer(c, { 'Content-Type': 'text/csv' }, write, SERVICES, options);
    wasStreamed = isStreamed(c);
    return response;
  });
  const response = await app.request('/');
  const { status, headers } = response;
  return { status, type: headers.get('content-type'), text: () => response.text(), isStreamed: wasStreamed };
}

describe('streamed answers', () => {
  test.each([
    ['pieces that fit the limit are sent whole, in order', ['date\n', '1\n'], 7, false],
    ['an answer without pieces is sent whole', [], 7, false],
    ['pieces that exceed the limit by a byte are streamed in order', ['date\n', '12\n'], 7, true],
    ['an answer without a limit is streamed', ['date\n'], undefined, true],
  ] as const)('%s (R-G4)', async (_what, pieces, wholeBytes, isStreamedAnswer) => {
    const { status, type, text, isStreamed } = await answer(pieces, wholeBytes);
    expect({ status, type, text: await text(), isStreamed }).toEqual({
      ...{ status: 200, type: 'text/csv' },
      ...{ text: pieces.join(''), isStreamed: isStreamedAnswer },
    });
  });

  test('when an error occurs before the answer has begun, the error is sent instead of the pieces (R-G4)', async () => {
    const { status, text } = await answer(['date\n', new Error('the database ended the statement')], 7);
    expect({ status, text: await text() }).toEqual({ status: 500, text: 'the database ended the statement' });
  });
});
