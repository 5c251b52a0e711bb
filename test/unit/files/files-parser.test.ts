import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { openFileParser, ParserDeath } from '../../../src/files/parsing/file-parser.ts';
import { FileRefusal, START } from '../../../src/files/standard-file.ts';

const PART_BYTES = 64;
const LIMITS = { maxRows: 1000, maxInflatedBytes: 2 ** 20, maxRatio: 100 };

const parser = openFileParser();
afterAll(() => parser.close());

type ReadPart = (part: Buffer, index: number) => Promise<Buffer>;

/**
 * Parses `text` as a CSV file. Calls `readPart` with each part of `text` that the parser requests, and sends the parser
 * the bytes that `readPart` returns.
 * @returns the number of valid rows.
 */
async function countRows(text: string, readPart: ReadPart): Promise<number> {
  const file = Buffer.from(text);
  const order = { format: 'csv', sizeBytes: file.length, partBytes: PART_BYTES, limits: LIMITS, from: START } as const;
  const chunks = parser.parse(order, {
    readPart: async (index) => {
      const bytes = await readPart(file.subarray(index * PART_BYTES, (index + 1) * PART_BYTES), index);
      return { isCompressed: false, bytes };
    },
    resolve: async ({ targets, labels }) => ({
      targets: targets.map(({ id }) => ({ id, target: { variableId: 7, timeZoneId: 'UTC', divider: 1 } })),
      labels: labels.map(({ id }) => ({ id, ids: { versionTagId: 0, tagSetId: 0 } })),
    }),
    onHeader: () => {},
  });
  let ingested = 0;
  for await (const chunk of chunks) ingested += chunk.ingested;
  return ingested;
}

describe('files: a parser process that reads one file after another', () => {
  it('ignores a late part of the previous file (R-E1, R-E2)', async () => {
    const release = Promise.withResolvers<void>();
    const wrong = `no,columns\n${'x'.repeat(2 * PART_BYTES)}`;
    const refused = countRows(wrong, async (part, index) => {
      if (index > 0) await release.promise;
      return part;
    });
    await expect(refused).rejects.toBeInstanceOf(FileRefusal);
    const right = `variable_id,date,value\n${'7,2026-03-01T00:00:00,1\n'.repeat(9)}`;
    expect(right.length).toBeGreaterThan(3 * PART_BYTES);
    const ingested = countRows(right, async (part, index) => {
      if (index === 1) {
        release.resolve();
        // Waits until the late second part of the previous file has been read. If that part were wrongly sent to the
        // parser, it would arrive before the second part of this file.
        await new Promise((resolve) => setImmediate(resolve));
      }
      return part;
    });
    expect(await ingested).toBe(9);
  });
});

describe('files: an idle parser process', () => {
  it('leaves no rows in its temporary file (R-A14)', async () => {
    expect(await countRows(`variable_id,date,value\n7,2026-03-01T00:00:00,1\n`, async (part) => part)).toBe(1);
    const chunkFiles = readdirSync('/proc/self/fd')
      .map((descriptor) => `/proc/self/fd/${descriptor}`)
      .filter((path) => linkOf(path).includes('tidemark-chunks-'));
    expect(chunkFiles.map((path) => statSync(path).size)).toEqual([0]);
  });

  it('has a memory limit from the kernel, below 1 GiB (R-A14)', () => {
    const limits = parserProcesses().map((pid) => readFileSync(`/proc/${pid}/limits`, 'utf8'));
    const bytes = limits.map((text) => Number(/^Max data size +(\d+)/m.exec(text)?.[1]));
    expect(bytes.length).toBeGreaterThan(0);
    for (const limit of bytes) expect(limit).toBeLessThan(2 ** 30);
  });
});

describe('files: a parser process that dies', () => {
  const text = `variable_id,date,value\n${'7,2026-03-01T00:00:00,1\n'.repeat(9)}`;
  /** Sends a signal to all parser processes that this process started. */
  const end = (signal: NodeJS.Signals) => {
    for (const pid of parserProcesses()) process.kill(pid, signal);
  };

  it.each([
    ['SIGKILL', 'not blamed'],
    ['SIGABRT', 'blamed'],
    ['SIGTRAP', 'blamed'],
    ['SIGSEGV', 'blamed'],
  ] as const)(
    'when the signal %s kills the parser during parsing, the death of the parser is %s on the file (R-A15)',
    async (signal, verdict) => {
      const died = countRows(text, async (part) => {
        end(signal);
        return part;
      });
      const error = await died.catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(ParserDeath);
      expect(error).toMatchObject({ isByFile: verdict === 'blamed', message: expect.stringContaining(signal) });
    },
  );

  it('when the parser dies before it has asked for the file, its death does not count as caused by the file (R-A15)', async () => {
    end('SIGKILL');
    const asked: number[] = [];
    const parse = () =>
      countRows(text, async (part, index) => {
        asked.push(index);
        return part;
      });
    // The parser is killed before this process returns to its event loop. Only in the event loop does this process
    // answer requests for parts of the file, so the parser cannot get the file.
    const { result: died, started } = collectStarted(parse);
    expect(started).toHaveLength(1);
    for (const child of started) child.kill('SIGABRT');
    await expect(died).rejects.toMatchObject({ name: 'ParserDeath', isByFile: false });
    expect(asked).toEqual([]);
  });
});

/** @returns the target of the link of a file descriptor; '' when the descriptor is already closed. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** @returns the result of `action`, and the child processes that `action` started before returning. */
function collectStarted<Result>(action: () => Result): { readonly result: Result; readonly started: ChildProcess[] } {
  const started: ChildProcess[] = [];
  const collect = (message: unknown) => started.push((message as { readonly process: ChildProcess }).process);
  subscribe('child_process', collect);
  try {
    return { result: action(), started };
  } finally {
    unsubscribe('child_process', collect);
  }
}

function parserProcesses(): number[] {
  const children = readdirSync('/proc/self/task').flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
  );
  return children.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('parser-process.ts'));
}
