/** Streams the file from a multipart/form-data body, and skips the other parts of the form. */
import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import { DomainError } from '../../platform/errors.ts';

const PART_NAME = 'data';
const MAX_FORM_PARTS = 100;

export interface FormPart {
  readonly content: AsyncIterable<Uint8Array>;
  readonly filename: string;
  readonly mimeType: string;
}

/**
 * Finds the first part named `data`, ignoring case. Reading the content of this part throws invalid_input when the form
 * ends inside this part. An error after this part may go unnoticed.
 * @throws {DomainError} invalid_input when the form is malformed before this part, or none of the first 100 parts is
 *   named `data`. `findPart` and reading the content also throw the errors of `body`. An error that is not a
 *   DomainError becomes invalid_input.
 */
export function findPart(body: Readable, contentType: string): Promise<FormPart> {
  return new Promise((resolve, reject) => {
    const form = openForm(contentType);
    let found: Readable | undefined;
    const fail = (error: unknown): void => {
      const reason = error instanceof DomainError ? error : invalidForm(error);
      found?.destroy(reason);
      reject(reason);
      body.destroy();
    };
    form.on('file', (name, content, filename, _encoding, mimeType) => {
      if (found || name.toLowerCase() !== PART_NAME) {
        content.resume();
        return;
      }
      found = content;
      // Ignores errors of `content` here, because its consumer gets them. Without this handler, an error before the
      // first read of `content` would end the process.
      content.on('error', () => {});
      resolve({ content: contentOf(content), filename: filename ?? '', mimeType });
    });
    form.on('finish', () => reject(missingPart()));
    form.on('error', fail);
    body.on('error', fail);
    body.pipe(form);
  });
}

async function* contentOf(part: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* part;
  } catch (error) {
    throw error instanceof DomainError ? error : invalidForm(error);
  }
}

function openForm(contentType: string): BusboyInstance {
  try {
    const headers: BusboyHeaders = { 'content-type': contentType };
    // By default, Busboy may collect a part without a file name in memory. With `isPartAFile`, Busboy always streams
    // the part `data`.
    return new Busboy({
      headers,
      limits: { parts: MAX_FORM_PARTS },
      isPartAFile: (name) => name?.toLowerCase() === PART_NAME,
    });
  } catch (error) {
    throw invalidForm(error);
  }
}

function missingPart(): DomainError {
  return new DomainError(
    'invalid_input',
    `the first ${MAX_FORM_PARTS} parts of the form must include a part named "${PART_NAME}" that holds the file`,
  );
}

function invalidForm(error: unknown): DomainError {
  return new DomainError(
    'invalid_input',
    `the multipart/form-data body cannot be read: ${error instanceof Error ? error.message : error}`,
  );
}
