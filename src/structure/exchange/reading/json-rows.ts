/** Reads the rows of a JSON document. */
import { MAX_SHOWN } from '../../../platform/limits.ts';
import type { PartSource } from '../../../platform/streaming/zip-archive.ts';
import { FORMAT } from '../document/kinds.ts';
import { DocumentRefusal } from './document-refusal.ts';
import { scanJson } from './json-scanner.ts';
import { kindCalled, type RowBatches } from './row-batches.ts';

/** Maximum row size in bytes. A calculated variable may have several scripts of up to 1,000,000 characters each. */
const MAX_ROW_BYTES = 16 << 20;

/**
 * Adds every row of the lists `catalogues`, `forms`, `sites`, `sources` and `variables` to `batches`, and checks the
 * member `format`. Other members are ignored.
 * @returns an empty object in place of a workbook's column letters, because a JSON document has no columns.
 * @throws {DocumentRefusal} malformed_document, wrong_format, too_large.
 */
export async function readJsonRows(source: PartSource, batches: RowBatches): Promise<Record<string, never>> {
  for await (const { list, index, value } of scanJson(readParts(source, batches), MAX_ROW_BYTES)) {
    const kind = kindCalled(list);
    if (list.toLowerCase() === 'format') assertFormat(value);
    if (!kind) continue;
    if (index === undefined) throw new DocumentRefusal('malformed_document', `${list} must be a list of rows`);
    const place = `$.${kind}[${index}]`;
    await batches.add(kind, place, (member) => `${place}.${member}`, value);
  }
  return {};
}

async function* readParts(source: PartSource, batches: RowBatches): AsyncGenerator<Uint8Array> {
  for (let part = 0; part * source.partBytes < source.sizeBytes; part += 1) {
    const bytes = await source.readPart(part);
    batches.bytes = Math.min(source.sizeBytes, (part + 1) * source.partBytes);
    yield bytes;
  }
}

function assertFormat(value: unknown): void {
  if (value === FORMAT) return;
  throw new DocumentRefusal(
    'wrong_format',
    `format must be ${FORMAT}, got ${JSON.stringify(value)?.slice(0, MAX_SHOWN)}`,
  );
}
