/** Tests that `CopyOut` finds the messages of a COPY when their bytes arrive in pieces of any size (R-G4). */
import { EventEmitter } from 'node:events';
import fc from 'fast-check';
import type { Connection } from 'pg';
import { describe, expect, test } from 'vitest';
import { CopyOut } from '../../../src/points/read/copy-out.ts';

/** Bytes that the driver reads after the COPY: in reality CommandComplete and ReadyForQuery, here arbitrary bytes. */
const AFTER = Buffer.from('CtailZ');

const message = fc.tuple(fc.constantFrom('d', 'd', 'd', 'N', 'S', 'A'), fc.uint8Array({ maxLength: 30 }));

function toBytes(kind: string, content: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeUInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}

/** Stands in for the socket of the driver. Each read returns as many bytes as the next entry of `sizes` says. */
class Socket extends EventEmitter {
  readonly #bytes: Buffer;
  readonly #sizes: readonly number[];
  #at = 0;
  #reads = 0;
  left = Buffer.alloc(0);

  constructor(bytes: Buffer, sizes: readonly number[]) {
    super();
    this.#bytes = bytes;
    this.#sizes = sizes;
    this.on('data', (piece: Buffer) => {
      this.left = Buffer.concat([this.left, piece]);
    });
  }

  read(): Buffer | null {
    if (this.#at === this.#bytes.length) return null;
    const size = this.#sizes[this.#reads++ % this.#sizes.length] ?? 1;
    const piece = Buffer.from(this.#bytes.subarray(this.#at, this.#at + size));
    this.#at += piece.length;
    return piece;
  }

  pause(): void {}

  /** Gives the driver the bytes that `CopyOut` has not read. */
  resume(): void {
    for (let piece = this.read(); piece; piece = this.read()) this.emit('data', piece);
  }
}

describe('points: CopyOut, which reads the messages of a COPY TO STDOUT', () => {
  test('passes on only row messages, and leaves the bytes after CopyDone to the driver (R-G4)', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 30 }), sizes, async (messages, pieces) => {
        const all = messages.map(([kind, content]) => toBytes(kind, content));
        const stream = [toBytes('H', Buffer.alloc(7)), ...all, toBytes('c', Buffer.alloc(0)), AFTER];
        const socket = new Socket(Buffer.concat(stream), pieces);
        const copy = new CopyOut('copy');
        copy.submit({ stream: socket, query: () => {} } as unknown as Connection);
        const received: Buffer[] = [];
        for await (const piece of copy) received.push(Buffer.from(piece));
        const rows = all.filter((_, index) => messages[index]?.[0] === 'd');
        expect(Buffer.concat(received)).toEqual(Buffer.concat(rows));
        await new Promise(process.nextTick);
        expect(socket.left).toEqual(AFTER);
      }),
    );
  });
});
