/** Checks rules about the project's files, such as which folders may import each other and how long a file may be. */
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { MAX_VERSION_LIMIT } from '../../../src/platform/limits.ts';
import { TUPLE_BYTES } from '../../../src/points/copy-codec.ts';
import { MAX_YEARS } from '../../../src/retention/retention.ts';
import { FIRST_OWN_ID } from '../../../src/structure/catalogue/own-catalogues.ts';
import { EVENT_TYPES } from '../../../src/webhooks/event-type.ts';

const CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url));
/**
 * Folder of the console, which runs in the browser. Its files have a tsconfig of their own. They import no file of the
 * server, and no file of the server imports them.
 */
const BROWSER = 'src/console/';
const ALL_SOURCES = globSync('src/**/*.{ts,tsx,mjs,css}', { cwd: CHECKOUT });
const CONSOLE = ALL_SOURCES.filter((file) => file.startsWith(BROWSER));
const SOURCES = ALL_SOURCES.filter((file) => !file.startsWith(BROWSER));
/** Generated types of the API's calls. console-types.test.ts can regenerate them. */
const GENERATED: ReadonlySet<string> = new Set(['src/console/api/openapi.d.ts']);
const TESTS = globSync('test/**/*.ts', { cwd: CHECKOUT });
const IMPORT = /(?:^|\n)(?:import|export)\s+(type\s)?[^;]*?from\s*'([^']+)'|import\('([^']+)'\)/g;

interface Import {
  readonly from: string;
  /** Path in the checkout, or the name of a package. */
  readonly to: string;
  readonly isType: boolean;
}

const imports: readonly Import[] = ALL_SOURCES.flatMap((from) =>
  [...read(from).matchAll(IMPORT)].map(([, type, first, second]) => {
    const specifier = first ?? second ?? '';
    const to = specifier.startsWith('.') ? relative(CHECKOUT, join(CHECKOUT, dirname(from), specifier)) : specifier;
    return { from, to, isType: type !== undefined };
  }),
);

function read(file: string): string {
  return readFileSync(join(CHECKOUT, file), 'utf8');
}

/** @returns the top folder of a file below src; `root` for a file directly in src or outside src. */
function roomOf(file: string): string {
  const [top, folder, rest] = file.split('/');
  return top === 'src' && rest !== undefined ? (folder ?? '') : 'root';
}

/** Folders that most other folders may import. They include identity, which provides `Caller` and authentication. */
const FEATURES = ['platform', 'points', 'structure', 'identity'];
/** Folder of src → the other folders of src that it may import. Folders without an entry have no such limit. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  platform: [],
  points: ['platform'],
  backup: ['platform'],
  accounts: ['platform', 'identity', 'structure'],
  identity: ['platform', 'root'],
  structure: ['platform', 'points', 'identity'],
  push: FEATURES,
  files: [...FEATURES, 'push'],
  ingest: [...FEATURES, 'push'],
  retention: FEATURES,
  selection: FEATURES,
  calculation: [...FEATURES, 'selection', 'root'],
  watching: [...FEATURES, 'selection'],
  reading: [...FEATURES, 'selection', 'watching'],
  grpc: [...FEATURES, 'selection', 'watching', 'calculation'],
  webhooks: ['platform', 'identity', 'structure'],
  http: ['platform', 'identity'],
};

test('architecture: the scan for imports works: it finds more imports than there are files', () => {
  expect(imports.length).toBeGreaterThan(SOURCES.length);
});

test('architecture: a folder of src imports only the folders listed for it', () => {
  const broken = imports.filter(({ from, to }) => {
    const allowed = ALLOWED[roomOf(from)];
    return (
      to.startsWith('src/') && allowed !== undefined && roomOf(from) !== roomOf(to) && !allowed.includes(roomOf(to))
    );
  });
  expect(broken).toEqual([]);
});

test('architecture: a file at the top of src, except config.ts, is imported only by files in src/roles, in src/local or at the top of src', () => {
  const wiring = ['root', 'roles', 'local'];
  const broken = imports.filter(({ from, to }) => {
    return !wiring.includes(roomOf(from)) && to.startsWith('src/') && roomOf(to) === 'root' && to !== 'src/config.ts';
  });
  expect(broken).toEqual([]);
});

test('architecture: settings files import only other settings files and src/platform', () => {
  const settings = ['src/config.ts', 'src/intake-settings.ts', 'src/setting-types.ts', 'src/setting-conflicts.ts'];
  const broken = imports.filter(
    ({ from, to }) =>
      settings.includes(from) && to.startsWith('src/') && !settings.includes(to) && roomOf(to) !== 'platform',
  );
  expect(broken).toEqual([]);
});

test('architecture: a file that imports src/roles or src/local is itself in src/roles, in src/local or at the top of src', () => {
  const broken = imports.filter(({ from, to }) => {
    const isWiring = ['root', 'roles', 'local'].includes(roomOf(from));
    return !isWiring && ['roles', 'local'].includes(roomOf(to));
  });
  expect(broken).toEqual([]);
});

test('architecture: the product does not import src/local, which the images do not contain', () => {
  const broken = imports.filter(({ from, to }) => roomOf(from) !== 'local' && roomOf(to) === 'local');
  expect(broken).toEqual([]);
  expect(read('.dockerignore').split('\n')).toContain('src/local');
  expect(read('Dockerfile')).not.toContain('src/local');
});

test('architecture: the console imports no file of the server, and the server imports no file of the console', () => {
  const isBrowser = (file: string) => file.startsWith(BROWSER);
  const own = imports.filter(({ from, to }) => isBrowser(from) && to.startsWith('src/'));
  expect(own.length).toBeGreaterThan(10);
  expect(imports.filter(({ from, to }) => to.startsWith('src/') && isBrowser(from) !== isBrowser(to))).toEqual([]);
  expect(read('tsconfig.json')).toContain('"exclude": ["src/console"]');
});

test('architecture: the console uses no innerHTML, eval or similar way to run text as HTML or code', () => {
  const risky =
    /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\b/;
  expect(CONSOLE.filter((file) => risky.test(read(file)))).toEqual([]);
});

test('architecture: the server parses JSON texts with parseJsonText, because JSON.parse can return wrong keys', () => {
  const callers = SOURCES.filter((file) => read(file).includes('JSON.parse('));
  // Files in src/local may use JSON.parse, because they parse only the output of our own processes.
  expect(callers.filter((file) => roomOf(file) !== 'local')).toEqual(['src/platform/json/json-text.ts']);
});

test('architecture: only push-service.ts imports the code of the fast paths of push; other files import only types from fast-paths.ts', () => {
  const folder = 'src/push/fast-paths/';
  const used = imports.filter(({ from, to }) => !from.startsWith(folder) && to.startsWith(folder));
  expect(used.length).toBeGreaterThan(3);
  const broken = used.filter(({ from, to, isType }) => {
    return from !== 'src/push/push-service.ts' && !(isType && to === `${folder}fast-paths.ts`);
  });
  expect(broken).toEqual([]);
});

test('architecture: SQL functions append only events whose type is in EVENT_TYPES (R-I2)', () => {
  const appended = globSync('sql/functions/*.sql', { cwd: CHECKOUT }).flatMap((file) => {
    return [
      ...read(file).matchAll(/insert into outbox_event \(account_id, type, payload\)\s+select account_id, '(\w+)'/g),
    ];
  });
  const inserts = globSync('sql/functions/*.sql', { cwd: CHECKOUT }).flatMap((file) =>
    read(file).split('insert into outbox_event').slice(1),
  );
  expect(appended.length).toBeGreaterThan(0);
  expect(appended).toHaveLength(inserts.length);
  expect(EVENT_TYPES).toEqual(expect.arrayContaining(appended.map(([, name]) => name)));
});

test('architecture: imports have no cycle', () => {
  const graph = new Map<string, string[]>();
  for (const { from, to } of imports) if (to.startsWith('src/')) graph.set(from, [...(graph.get(from) ?? []), to]);
  const done = new Set<string>();
  const findCircle = (file: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const next of graph.get(file) ?? []) {
      const circle = findCircle(next, [...path, file]);
      if (circle) return circle;
    }
    done.add(file);
    return undefined;
  };
  expect(ALL_SOURCES.flatMap((file) => findCircle(file, []) ?? [])).toEqual([]);
});

describe('architecture: files named *-rules.ts outside the console', () => {
  const rules = SOURCES.filter((file) => file.endsWith('-rules.ts'));

  test('more than five such files are found; otherwise the check of their purity could pass without a file', () => {
    expect(rules.length).toBeGreaterThan(5);
  });

  test.each(rules)('%s and its imports are pure: no package, I/O, clock or environment', (file) => {
    const reached = new Set([file]);
    for (const reachedFile of reached) {
      for (const { from, to, isType } of imports) if (from === reachedFile && !isType) reached.add(to);
    }
    expect([...reached].filter((name) => !name.startsWith('src/'))).toEqual([]);
    for (const name of reached) {
      expect(read(name)).not.toMatch(/process\.env|Date\.now|new Date\(\)|Math\.random|performance\.now|await /);
    }
  });
});

test('architecture: a file of src has at most 400 lines, unless it is generated; a file of test has at most 500', () => {
  const lines = (file: string) => read(file).split('\n').length - 1;
  const sources = ALL_SOURCES.filter((file) => !GENERATED.has(file));
  expect([...sources.filter((file) => lines(file) > 400), ...TESTS.filter((file) => lines(file) > 500)]).toEqual([]);
});

test('architecture: a code file that only one file imports must have more than 30 lines; two listed files are exempt', () => {
  const exempt = [
    // The next file contains a rule of §9. Each such rule is in a file of its own, named `*-rules.ts`.
    'src/push/body/label-table-rules.ts',
    // Every role has a file of its own, so that main.ts reads as a list of roles.
    'src/roles/grpc-role.ts',
  ];
  // Style sheets are exempt, because a style sheet cannot be merged into the file that imports it.
  const lonely = ALL_SOURCES.filter((file) => {
    if (file.endsWith('.css')) return false;
    const importers = new Set(imports.filter(({ to }) => to === file).map(({ from }) => from));
    return importers.size === 1 && read(file).split('\n').length - 1 <= 30;
  });
  expect(lonely.sort()).toEqual(exempt.sort());
});

test('architecture: routes read query parameters only through the declarations of these parameters (R-A9)', () => {
  // issuer.ts passes whole requests to oidc-provider, and oidc-provider parses the query parameters.
  const exempt = ['src/platform/http/query.ts', 'src/identity/issuer/issuer.ts'];
  const reads = /\breq\.(query|queries)\b|searchParams\.(get|has|entries)|new URL\((c|context|request)\b[^)]*url/;
  const parses = /(\w+\.parse|parse\w+|routingPath|repairAddress)\($/;
  const offenders = SOURCES.filter((file) => !exempt.includes(file)).flatMap((file) => {
    const text = read(file);
    const handed = [...text.matchAll(/\b(?:c\.req|request)\.url\b/g)].filter(
      ({ index }) => !parses.test(text.slice(0, index)),
    );
    return reads.test(text) || handed.length > 0 ? [file] : [];
  });
  expect(offenders).toEqual([]);
});

test('architecture: no indented comment of a shell script has an apostrophe, which would close the single quotes around an embedded program', () => {
  const scripts = globSync(['src/**/*.sh', 'r-runtime/**/*.sh'], { cwd: CHECKOUT });
  expect(scripts).toContain('r-runtime/build.sh');
  expect(scripts.filter((file) => /^[ \t]+#.*'/m.test(read(file)))).toEqual([]);
});

test('architecture: outside src/local, only main.ts reads the environment (R-K1)', () => {
  const readers = SOURCES.filter((file) => /process\.env\b/.test(read(file)) && !file.startsWith('src/local/'));
  expect(readers).toEqual(['src/main.ts']);
});

test('architecture: acceptance tests use no database client, so that they can test another implementation', () => {
  const reaching = TESTS.filter((file) => {
    return (
      file.startsWith('test/acceptance/') &&
      /from 'pg'|platform\/database|createStoredWorld|\.query[(<]/.test(read(file))
    );
  });
  expect(reaching, 'a test whose subject is the database belongs in test/integration').toEqual([]);
});

test('architecture: a folder has at most 15 code files', () => {
  const counts = new Map<string, number>();
  const isCounted = (file: string) => !file.startsWith('test/fixtures/') && !file.endsWith('.css');
  for (const file of [...ALL_SOURCES, ...TESTS].filter(isCounted)) {
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  }
  const crowded = [...counts].filter(([, count]) => count > 15);
  expect(crowded, 'move files that belong together into a folder named for what one does there').toEqual([]);
});

test('architecture: 2147483647 is written only in platform/limits.ts and in the files with the limits of R integers and of timers', () => {
  const exempt = [
    // The next file is exempt because it defines the greatest integer that R can represent.
    'src/calculation/inputs/input-columns.ts',
    'src/platform/limits.ts',
    // The next file is exempt because it defines the longest delay that a timer accepts.
    'src/watching/open-watching.ts',
  ];
  const literal = /\b2_?147_?483_?647\b|2 \*\* 31 - 1|\b0x7fff_?ffff\b/i;
  const writers = SOURCES.filter((file) => literal.test(read(file).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')));
  expect(writers.sort()).toEqual(exempt);
});

test.each([
  ['FIRST_OWN_ID', 'src/structure/catalogue/own-catalogues.ts', 'src/console/settings/catalogues/catalogue-calls.ts'],
  ['MAX_EXAMINED', 'src/accounts/installation/installation-report.ts', 'src/console/operate/operate.tsx'],
  ['MAX_VERSIONS', 'src/reading/origins/origin-query.ts', 'src/console/variable/lineage/origins.ts'],
])(
  'architecture: the console cannot import %s from the server, so the console has a copy with the same value',
  (name, server, browser) => {
    const valueIn = (file: string) => new RegExp(`const ${name} = ([\\d_]+);`).exec(read(file))?.[1];
    expect(valueIn(server)).toBeDefined();
    expect(valueIn(browser)).toBe(valueIn(server));
  },
);

test('architecture: four numbers are the same in SQL and TypeScript: size of a tuple in bytes, first id of the catalogue entries that accounts create, maximum version limit, maximum years of retention', () => {
  const numbersIn = (file: string, pattern: RegExp) =>
    [...read(file).matchAll(pattern)].map(([, text]) => Number(text));
  const operations = read('sql/functions/push_operations.sql');
  expect(operations).toContain(`${TUPLE_BYTES} * first`);
  expect(operations).toContain(`length(bytes) - 1, ${TUPLE_BYTES})`);
  expect(numbersIn('sql/migrations/0053_own_catalogues.sql', /(?:start with|minvalue) (\d+)/g)).toEqual([
    FIRST_OWN_ID,
    FIRST_OWN_ID,
  ]);
  const versionLimits = ['0001_accounts', '0003_structure'].map((name) =>
    numbersIn(`sql/migrations/${name}.sql`, /version_limit between 1 and (\d+)/g),
  );
  expect(versionLimits).toEqual([[MAX_VERSION_LIMIT], [MAX_VERSION_LIMIT]]);
  expect(numbersIn('sql/migrations/0054_retention.sql', /keep_raw_years between 1 and (\d+)/g)).toEqual([MAX_YEARS]);
});

test('architecture: npm scripts begin with exec, because a shell does not pass on the signal that ends npm', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const commands = Object.values(scripts);
  expect(commands.length).toBeGreaterThan(0);
  expect(commands.filter((command) => !command.startsWith('exec node '))).toEqual([]);
});

test('architecture: apart from hidden files and folders, the top level has only the agreed files and folders', () => {
  const allowed = new Set([
    ...['package.json', 'package-lock.json', 'src', 'r-runtime', 'sql', 'proto', 'test', 'Dockerfile', 'README.md'],
    ...['tsconfig.json', 'compose.yaml', 'node_modules'],
  ]);
  expect(readdirSync(CHECKOUT).filter((name) => !name.startsWith('.') && !allowed.has(name))).toEqual([]);
});
