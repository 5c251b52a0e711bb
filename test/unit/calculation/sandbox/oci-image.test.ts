/** Errors of the OCI engine that an operator can correct. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ensureImage } from '../../../../src/calculation/sandbox/oci-image.ts';

test('OCI image: when the engine is not installed, the error names the engine and its setting; when the import of the image fails, the error names R_ROOT (R-H7)', async () => {
  const root = mkdtempSync(join(tmpdir(), 'tidemark-root-'));
  try {
    await expect(ensureImage(['no-such-engine'], root)).rejects.toThrow(
      /^no-such-engine cannot run .*SANDBOX_OCI_COMMAND/,
    );
    await expect(ensureImage(['false'], root)).rejects.toThrow(`false could not import R_ROOT ${root} as image`);
  } finally {
    rmSync(root, { recursive: true });
  }
});
