/** When the OCI engine or tar fails, the error names what the operator can correct. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ensureImage } from '../../../../src/calculation/sandbox/oci-image.ts';

test('OCI image: the error names SANDBOX_OCI_COMMAND when no container engine is found, and R_ROOT when the import fails (R-H7)', async () => {
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

test('OCI image: when tar cannot read all of R_ROOT, the imported image is removed and the error names R_ROOT (R-H7)', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-engine-'));
  const [engine, calls, root] = ['engine', 'calls', 'missing'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  // This stub of a container engine has no images. Every import of an image into the engine succeeds.
  writeFileSync(
    engine,
    `#!/bin/sh\necho "$@" >> ${calls}\ncase "$2" in inspect) exit 1 ;; esac\n[ "$1" != import ] || cat > /dev/null\n`,
    { mode: 0o755 },
  );
  try {
    await expect(ensureImage([engine], root)).rejects.toThrow(`tar could not read R_ROOT ${root}: tar: `);
    expect(readFileSync(calls, 'utf8').trim().split('\n').at(-1)).toBe('image rm localhost/tidemark-r:missing');
  } finally {
    rmSync(directory, { recursive: true });
  }
});
