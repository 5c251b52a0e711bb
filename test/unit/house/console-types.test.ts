/**
 * Compares the generated types of the console's API calls with the OpenAPI document (R-A9).
 * `npm test -- test/unit/house/console-types -u` updates src/console/api/openapi.d.ts.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { consoleTypes } from '../../support/console/console-types.ts';

const CONSOLE = fileURLToPath(new URL('../../../src/console', import.meta.url));
const CALL = /\b(?:GET|PUT|POST|PATCH|DELETE)\(\s*'([^']+)'/g;

/** Paths that the console calls. */
function usedPaths(): ReadonlySet<string> {
  const files = globSync('**/*.{ts,tsx}', { cwd: CONSOLE });
  return new Set(
    files.flatMap((file) =>
      [...readFileSync(join(CONSOLE, file), 'utf8').matchAll(CALL)].map(([, path]) => path ?? ''),
    ),
  );
}

test('console: the generated types of its API calls match the OpenAPI document (R-A9)', async () => {
  const types = await consoleTypes(usedPaths());
  await expect(types).toMatchFileSnapshot('../../../src/console/api/openapi.d.ts');
});
