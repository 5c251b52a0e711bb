import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeText, readBytes, readJsonBody } from '../../../src/platform/http/http-body.ts';

const MAX_BYTES = 4 << 20;

interface Sent {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** End offset of each piece but the last. */
  readonly cuts: readonly number[];
  readonly breaksOff?: boolean;
}

/** Yields the body in pieces, like a connection. When `breaksOff` is true, throws a connection error at the end. */
async function* piecesOf({ bytes, cuts, breaksOff = false }: Sent) {
  let start = 0;
  for (const end of [...cuts, bytes.length]) {
    yield bytes.subarray(start, end);
    start = end;
  }
  if (breaksOff) throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
}

function requestOf(sent: Sent, headers: Readonly<Record<string, string>>): Request {
  const body = Readable.toWeb(Readable.from(piecesOf(sent), { objectMode: false })) as ReadableStream;
  return new Request('http://h/', { method: 'POST', body, duplex: 'half', headers } as RequestInit);
}

const lengthOf = ({ bytes }: Sent) => ({ 'content-length': String(bytes.length) });
const GZIP = { 'content-encoding': 'gzip' };

/** Ways to read a body that is not compressed. */
const WAYS: readonly (readonly [way: string, read: (sent: Sent) => Promise<Uint8Array>])[] = [
  ['of known length', (sent) => readBytes(requestOf(sent, lengthOf(sent)), MAX_BYTES)],
  [
    'of known length in a Node.js stream',
    (sent) =>
      readBytes(
        requestOf(sent, lengthOf(sent)),
        MAX_BYTES,
        () => {},
        Readable.from(piecesOf(sent), { objectMode: false }),
      ),
  ],
  ['of unknown length', (sent) => readBytes(requestOf(sent, {}), MAX_BYTES)],
];

describe.each(WAYS)('http: a body %s', (_, read) => {
  it('is read unchanged from chunks of any size (R-A4)', async () => {
    const size = fc.oneof(fc.nat(100), fc.integer({ min: 1 << 18, max: 1 << 20 }));
    await fc.assert(
      fc.asyncProperty(size, fc.array(fc.nat()), async (length, ends) => {
        const bytes = new Uint8Array(length).map((_byte, index) => index % 251);
        const cuts = ends.map((end) => end % (length + 1)).sort((a, b) => a - b);
        expect(Buffer.compare(await read({ bytes, cuts }), bytes)).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  it('is refused with invalid_input, not dependency_unavailable, when the connection is lost before the end of the stream (R-A5)', async () => {
    const bytes = new Uint8Array(1 << 19);
    await expect(read({ bytes, cuts: [100], breaksOff: true })).rejects.toMatchObject({
      ...{ code: 'invalid_input', message: 'the body was not received completely' },
    });
  });
});

it('http: a body with a Content-Length above the limit is refused; the error states the limit and the length (R-A5)', async () => {
  const sent = { bytes: new Uint8Array(1 << 10), cuts: [] };
  await expect(readBytes(requestOf(sent, lengthOf(sent)), 1000)).rejects.toMatchObject({
    ...{ code: 'body_too_large', message: 'the body must be at most 1000 bytes, got 1024 bytes' },
  });
});

it('http: a body without a Content-Length is refused when it exceeds the limit; the error states the limit (R-A5)', async () => {
  const sent = { bytes: new Uint8Array(1 << 10), cuts: [] };
  await expect(readBytes(requestOf(sent, {}), 1000)).rejects.toMatchObject({
    ...{ code: 'body_too_large', message: 'the body must be at most 1000 bytes' },
  });
});

describe('http: a gzip body', () => {
  it('is inflated to the bytes that were compressed (R-A4)', async () => {
    const bytes = new Uint8Array(3 << 20).map((_byte, index) => index % 251);
    const packed = new Uint8Array(gzipSync(bytes));
    expect(Buffer.compare(await readBytes(requestOf({ bytes: packed, cuts: [9] }, GZIP), MAX_BYTES), bytes)).toBe(0);
  });

  it('is refused as soon as its inflated size exceeds the limit; until then, the size of each inflated piece is reported (R-A4, R-D10)', async () => {
    const packed = new Uint8Array(gzipSync(new Uint8Array(MAX_BYTES + 1)));
    let sizes = 0;
    const reading = readBytes(requestOf({ bytes: packed, cuts: [] }, GZIP), MAX_BYTES, (count) => {
      sizes += count;
    });
    await expect(reading).rejects.toMatchObject({
      ...{ code: 'body_too_large', message: 'the body must be at most 4194304 bytes (4 MiB) when inflated' },
    });
    expect(sizes).toBeLessThanOrEqual(MAX_BYTES);
    expect(sizes).toBeGreaterThan(MAX_BYTES / 2);
  });

  it.each([
    ['it is invalid', Uint8Array.from([1, 2, 3]), false, 'the body is not valid gzip'],
    ['it ends early', Uint8Array.from(gzipSync('x').subarray(0, 15)), false, 'the body is not valid gzip'],
    ['the connection is lost', Uint8Array.from(gzipSync('x')), true, 'the body was not received completely'],
  ])('is refused when %s, and the error names the cause (R-A4, R-A5)', async (_what, bytes, breaksOff, message) => {
    const cuts = breaksOff ? [bytes.length - 4] : [];
    const reading = readBytes(requestOf({ bytes, cuts, breaksOff }, GZIP), MAX_BYTES);
    await expect(reading).rejects.toMatchObject({ code: 'invalid_input', message });
  });
});

describe('http: encodings of a JSON body', () => {
  it('bytes that are not UTF-8 are refused, and the error names their offset (R-A5)', () => {
    for (const before of ['{"a":1}', 'Zählér ', 'x'.repeat(999)].map((text) => Buffer.from(text))) {
      for (const rest of [[0xe9, 0x72], [0xc3]]) {
        const bytes = Buffer.concat([before, Uint8Array.from(rest)]);
        expect(() => decodeText(bytes)).toThrow(`the body must be UTF-8; see byte ${before.length} of the body`);
      }
    }
  });

  it('bytes that are not valid UTF-16 are refused when Content-Type names UTF-16; the error names Content-Type (R-A5)', async () => {
    const sent = { bytes: Uint8Array.from([0x7b]), cuts: [] };
    const reading = readJsonBody(requestOf(sent, { 'content-type': 'application/json; charset=utf-16' }));
    await expect(reading).rejects.toThrow('the body must be UTF-16LE, as its Content-Type says');
  });

  it.each(['charset=utf-16', 'charset="UTF-16LE"; v=1'])(
    'UTF-16 is read when the media type says %s (R-A3, R-A4)',
    async (charset) => {
      const patch = [{ value: 'Zählér', path: '/Name', op: 'replace' }];
      const read = (type: string) =>
        readJsonBody(
          requestOf(
            { bytes: Uint8Array.from(Buffer.from(JSON.stringify(patch), 'utf16le')), cuts: [] },
            { 'content-type': type },
          ),
        );
      expect(await read(`application/json; ${charset}`)).toEqual(patch);
      await expect(read('application/json')).rejects.toMatchObject({ code: 'malformed_json' });
    },
  );
});
