/**
 * Recipes of the two root file systems: Debian suite, packages, and hooks that run after the packages are installed.
 * The hash of a recipe covers the recipe and the contents of its staged files. So a change to a package list or to a
 * staged script leads to a new root file system.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { CHECKOUT } from '../paths.ts';
import { SERVICE_ID } from '../services/launcher.ts';
import { SetupError } from '../setup-error.ts';

const SUITE = 'trixie';
const DATABASE_PACKAGES = 'src/container/database-packages.txt';
/** `extra-packages.txt` is an operator's own list, which most checkouts do not have. */
const R_PACKAGES = ['packages.txt', 'build-packages.txt', 'extra-packages.txt'].map((name) => `r-runtime/${name}`);
const DEMO_DATA_SCRIPT = 'src/local/roots/taylor-data.sh';
const RUNTIME_BUILD_SCRIPT = 'r-runtime/build.sh';
const NOT_IN_A_ROOT = /(^|\/)tests(\/|$)|\.md$/;

export interface RootRecipe {
  readonly name: 'database' | 'r';
  readonly label: string;
  readonly suite: string;
  readonly packages: readonly string[];
  /** Shell lines that run with the root file system as `$1` after all packages are installed. */
  readonly hooks: readonly string[];
  /**
   * Files that the hooks need. A copy of each is put in the directory `$TIDEMARK_STAGE`; the record maps the path of
   * the copy, relative to this directory, to the path of the original.
   */
  readonly stagedFiles: Readonly<Record<string, string>>;
  /** Hash of the recipe and the contents of its staged files: twelve hexadecimal digits. */
  readonly hash: string;
}

const ADD_SERVICE_USER = [
  `echo 'tidemark:x:${SERVICE_ID}:${SERVICE_ID}::/nonexistent:/usr/sbin/nologin' >> "$1/etc/passwd"`,
  `echo 'tidemark:x:${SERVICE_ID}:' >> "$1/etc/group"`,
];

/** Maps each directory of a TimescaleDB build to the directory from which PostgreSQL loads its files. */
const TIMESCALE_DIRECTORIES = {
  lib: 'usr/lib/postgresql/17/lib',
  extension: 'usr/share/postgresql/17/extension',
} as const;

/**
 * Recipe for TimescaleDB and Redis. TIMESCALEDB_BUILD in the environment names a directory with a build of TimescaleDB
 * (`lib/timescaledb*`, `extension/timescaledb*`), whose files replace the files of Debian's Apache edition.
 * @throws {SetupError} when `lib` or `extension` has no files of TimescaleDB.
 */
export function databaseRecipe(environment: Readonly<Record<string, string | undefined>> = process.env): RootRecipe {
  const stagedFiles = environment.TIMESCALEDB_BUILD ? listTimescaleBuild(resolve(environment.TIMESCALEDB_BUILD)) : {};
  const overlays = Object.entries(TIMESCALE_DIRECTORIES).map(
    ([part, target]) =>
      `rm -f "$1"/${target}/timescaledb* && cp "$TIDEMARK_STAGE"/timescaledb/${part}/* "$1"/${target} && chmod 644 "$1"/${target}/timescaledb*`,
  );
  const isOwnBuild = Object.keys(stagedFiles).length > 0;
  return withHash({
    name: 'database',
    label: `root file system of TimescaleDB${isOwnBuild ? ' (from TIMESCALEDB_BUILD)' : ''} and Redis`,
    suite: SUITE,
    packages: readPackages(join(CHECKOUT, DATABASE_PACKAGES)),
    hooks: [
      ...ADD_SERVICE_USER,
      // Removes the database cluster that the PostgreSQL package creates on installation. The stack's own cluster is
      // below /data.
      'rm -rf "$1"/var/lib/postgresql/17 "$1"/etc/postgresql/17',
      'mkdir -m 755 "$1/data"',
      ...(isOwnBuild ? overlays : []),
    ],
    stagedFiles,
  });
}

function listTimescaleBuild(directory: string): Readonly<Record<string, string>> {
  const files = Object.keys(TIMESCALE_DIRECTORIES).flatMap((part) => {
    const folder = join(directory, part);
    const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('timescaledb')) : [];
    if (names.length === 0)
      throw new SetupError(`TIMESCALEDB_BUILD must name a build of TimescaleDB: ${folder} has no timescaledb files.`);
    return names.sort().map((name): [string, string] => [`timescaledb/${part}/${name}`, join(folder, name)]);
  });
  return Object.fromEntries(files);
}

/** Recipe for a root file system with R, the runner, the demo's data, and the R packages that scripts may use. */
export function rRecipe(): RootRecipe {
  return withHash({
    name: 'r',
    label: 'root file system of R',
    suite: SUITE,
    packages: R_PACKAGES.map((file) => join(CHECKOUT, file))
      .filter((path) => existsSync(path))
      .flatMap(readPackages),
    hooks: [DEMO_DATA_SCRIPT, RUNTIME_BUILD_SCRIPT]
      .filter((file) => existsSync(join(CHECKOUT, file)))
      .map((file) => `sh "$TIDEMARK_STAGE/${file}" "$1"`),
    stagedFiles: Object.fromEntries(
      [DEMO_DATA_SCRIPT, ...listFiles('r-runtime')].map((file) => [file, join(CHECKOUT, file)]),
    ),
  });
}

function listFiles(directory: string): readonly string[] {
  return globSync(`${directory}/**/*`, { cwd: CHECKOUT, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(CHECKOUT, join(entry.parentPath, entry.name)))
    .filter((path) => !NOT_IN_A_ROOT.test(path))
    .sort();
}

/** Reads a file with one package name per line; `#` starts a comment. */
function readPackages(path: string): readonly string[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter(Boolean);
}

function withHash(recipe: Omit<RootRecipe, 'hash'>): RootRecipe {
  const names = Object.keys(recipe.stagedFiles);
  const contents = Object.values(recipe.stagedFiles).map((path) => readFileSync(path, 'base64'));
  const hash = createHash('sha256')
    .update(JSON.stringify([{ ...recipe, stagedFiles: names }, contents]))
    .digest('hex')
    .slice(0, 12);
  return { ...recipe, hash };
}
