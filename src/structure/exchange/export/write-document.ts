/** Writes the rows of a document as JSON, one row per line, or as a workbook with a sheet for each list. */

import { type WorkbookRow, writeWorkbook } from '../../../platform/http/workbook-writer.ts';
import { parseJsonText } from '../../../platform/json/json-text.ts';
import { toCells } from '../document/cells.ts';
import { CONTINUED, FORMAT, LIST_NAMES, type ListName, listMembers } from '../document/kinds.ts';
import type { RowBatch } from './read-rows.ts';

/**
 * Rows of one list as text: JSON rows, or the cells of a sheet. `text` is a buffer instead of a string, so that its
 * length is the number of bytes that it occupies in memory.
 */
export interface EncodedBatch {
  readonly kind: ListName;
  readonly text: Buffer;
}

/** Encodes rows as JSON objects, one object per line, separated by commas. */
export function encodeJson({ kind, rows }: RowBatch): EncodedBatch {
  return { kind, text: Buffer.from(rows.map((row) => `\n${JSON.stringify(row)}`).join(',')) };
}

/** Encodes rows as a JSON list of sheet rows; each sheet row is a list of cells. */
export function encodeCells({ kind, rows }: RowBatch): EncodedBatch {
  const members = listMembers(kind);
  const cells = rows.flatMap((row) => toCells(members.map((member) => row[member])));
  return { kind, text: Buffer.from(JSON.stringify(cells)) };
}

/** Yields the bytes of a JSON document. @param batches batches in the order of LIST_NAMES. */
export async function* writeJson(batches: AsyncIterable<EncodedBatch>): AsyncGenerator<Uint8Array> {
  let open = -1;
  const openList = (index: number): string => {
    let text = '';
    for (; open < index; open += 1) {
      text += open < 0 ? '' : '\n]';
      text += open + 1 < LIST_NAMES.length ? `,\n"${LIST_NAMES[open + 1]}":[` : '\n}\n';
    }
    return text;
  };
  yield Buffer.from(`{"format":"${FORMAT}"`);
  for await (const { kind, text } of batches) {
    const index = LIST_NAMES.indexOf(kind);
    yield Buffer.concat([Buffer.from(index === open ? ',' : openList(index)), text]);
  }
  yield Buffer.from(openList(LIST_NAMES.length));
}

/**
 * Yields the bytes of a workbook with a sheet for each list of the document, including lists without rows.
 * @param batches batches in the order of LIST_NAMES.
 */
export function writeSheets(batches: AsyncIterable<EncodedBatch>): AsyncGenerator<Uint8Array> {
  const rowsOf = splitKinds(batches);
  const sheetOf = (name: ListName) => ({ name, header: headerOf(name), rows: rowsOf(name) });
  return writeWorkbook(
    sheetOf('catalogues'),
    sheetOf('forms'),
    sheetOf('sites'),
    sheetOf('sources'),
    sheetOf('variables'),
  );
}

/** @returns the column names of the sheet for one list. */
export function headerOf(kind: ListName): readonly string[] {
  return [...listMembers(kind), CONTINUED];
}

/**
 * Splits batches into one sequence for each kind. The batches must arrive in the order of kinds. The caller must read
 * the sequences in the order of kinds.
 */
function splitKinds(batches: AsyncIterable<EncodedBatch>): (kind: ListName) => AsyncGenerator<readonly WorkbookRow[]> {
  const source = batches[Symbol.asyncIterator]();
  let next: Awaited<ReturnType<typeof source.next>> | undefined;
  return async function* (kind) {
    let isRead = false;
    try {
      for (;;) {
        next ??= await source.next();
        isRead = next.done === true || next.value.kind !== kind;
        if (next.done || isRead) return;
        const { text } = next.value;
        next = undefined;
        yield parseJsonText(text.toString()) as readonly WorkbookRow[];
      }
    } finally {
      // If the consumer stopped in the middle of a sequence, it will not read the later sequences. So the batches are
      // no longer needed, and their iterator is closed.
      if (!isRead) await source.return?.();
    }
  };
}
