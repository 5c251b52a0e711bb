/** Lists the scenario files. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('..', import.meta.url));

export const SCENARIO_FILES = globSync('*.scenario', { cwd: FOLDER })
  .sort()
  .map((name) => ({ name, path: join(FOLDER, name) }));
