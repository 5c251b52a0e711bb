/** Opens the zip archive of a workbook (R-E4), and turns each `ArchiveRefusal` into a `FileRefusal`. */
import { ArchiveRefusal, openZipArchive, type ZipArchive } from '../../platform/streaming/zip-archive.ts';
import type { FileSource } from '../parsing/parse-job.ts';
import { type FileLimits, FileRefusal } from '../standard-file.ts';
import { assertSignature } from '../upload/file-signature.ts';

const START_BYTES = 8;

/**
 * An archive whose list of entries (the central directory of the ZIP file) was checked. Its method `read` may throw
 * FileRefusal.
 */
export type XlsxArchive = ZipArchive;

/**
 * Reads and checks the archive's directory (R-E4). @throws {FileRefusal} wrong_format,
 * encrypted, zip_bomb, damaged_file.
 */
export async function openXlsxArchive(source: FileSource, limits: FileLimits): Promise<XlsxArchive> {
  assertSignature('xlsx', Buffer.from(await source.readPart(0)).toString('latin1', 0, START_BYTES));
  try {
    const archive = await openZipArchive(source, limits);
    return { ...archive, read: (name) => readEntry(archive, name) };
  } catch (error) {
    throw toFileRefusal(error);
  }
}

async function* readEntry(archive: ZipArchive, name: string): AsyncGenerator<Buffer> {
  try {
    yield* archive.read(name);
  } catch (error) {
    throw toFileRefusal(error);
  }
}

function toFileRefusal(error: unknown): unknown {
  return error instanceof ArchiveRefusal ? new FileRefusal(error.code, error.message) : error;
}
