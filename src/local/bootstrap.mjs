/**
 * Runs as the first step of every npm script. It is plain JavaScript without packages, for Node 20 or newer. It
 * installs missing Debian packages with apt (not for `check` and `admin`), and npm packages with `npm ci`. Then it runs
 * `src/local/commands/<command>.ts` under the Node that package-lock.json pins, forwards signals to the command, and
 * exits with the command's code.
 *
 *   node src/local/bootstrap.mjs start|dev|reset|test|check|db|admin|bench|image-check|pictures [arguments]
 */
import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { constants as osConstants } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
const COMMANDS = ['start', 'dev', 'reset', 'test', 'check', 'db', 'admin', 'bench', 'image-check', 'pictures'];
const WITHOUT_SYSTEM_PACKAGES = new Set(['check', 'admin']);
const SEARCH_PATH = `${process.env.PATH ?? ''}${delimiter}/usr/sbin${delimiter}/sbin`;
const IS_ROOT = process.getuid?.() === 0;
const CAN_BE_ROOT = IS_ROOT || isPresent('sudo');
const COMPOSE_HINT = 'use `docker compose up`';

/** Debian packages, each with a file or program that shows that it is installed. */
const SYSTEM_PACKAGES = [
  { name: 'mmdebstrap', shows: 'mmdebstrap' },
  { name: 'debian-archive-keyring', shows: '/usr/share/keyrings/debian-archive-keyring.gpg' },
  { name: 'bubblewrap', shows: 'bwrap' },
  { name: 'util-linux', shows: 'setpriv' },
  { name: 'tar', shows: 'tar' },
  IS_ROOT ? { name: 'mount', shows: 'mount' } : { name: 'uidmap', shows: 'newuidmap' },
];

/** The tests and `pictures` open pages in a browser. The package chromium works too, but needs twice the CPU time. */
const TEST_PACKAGES = [{ name: 'chromium-headless-shell', shows: 'chromium-headless-shell', substitute: 'chromium' }];

/** Additional Debian packages for `image-check`, which builds and runs container images. */
const IMAGE_PACKAGES = [
  { name: 'podman', shows: 'podman' },
  { name: 'buildah', shows: 'buildah' },
  { name: 'runc', shows: 'runc' },
  { name: 'containernetworking-plugins', shows: '/usr/lib/cni/bridge' },
  { name: 'iptables', shows: 'iptables' },
  { name: 'nftables', shows: 'nft' },
  { name: 'catatonit', shows: '/usr/bin/catatonit' },
];

const MORE_PACKAGES = { test: TEST_PACKAGES, pictures: TEST_PACKAGES, 'image-check': IMAGE_PACKAGES };

main();

function main() {
  const [command, ...rest] = process.argv.slice(2);
  if (command === undefined || !COMMANDS.includes(command))
    fail(`the command must be one of ${COMMANDS.join(', ')}, got ${command ?? 'none'}`);
  if (Number(process.versions.node.split('.')[0]) < 20)
    fail(`Node must be version 20 or newer, got ${process.version}`);
  if (!WITHOUT_SYSTEM_PACKAGES.has(command))
    ensureSystemPackages([...SYSTEM_PACKAGES, ...(MORE_PACKAGES[command] ?? [])]);
  ensureNodeModules();
  runCommand(command, rest);
}

function ensureSystemPackages(packages) {
  const missing = packages.filter(({ shows }) => !isPresent(shows));
  if (missing.length > 0) {
    if (isPresent('apt-get')) installPackages(missing);
    else if (!usesOwnServices()) {
      const names = missing.map(({ name }) => name).join(', ');
      const remedy = `to start Tidemark with only util-linux, set DATABASE_URL and REDIS_URL; or ${COMPOSE_HINT}`;
      fail(`this machine has no apt to install ${names}; install these packages by hand; ${remedy}`);
    }
  }
  if (!IS_ROOT) ensureSubordinateIds();
}

function usesOwnServices() {
  return Boolean(process.env.DATABASE_URL && process.env.REDIS_URL);
}

function installPackages(packages) {
  const names = packages.map(({ name }) => name);
  print(`Installing ${names.join(', ')} …`);
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const isInstalled =
    CAN_BE_ROOT &&
    runAsRoot(['apt-get', 'update', '--quiet'], environment) &&
    runAsRoot(['apt-get', 'install', '--quiet', '--yes', '--no-install-recommends', ...names], environment);
  if (isInstalled || packages.every(({ substitute }) => substitute && isPresent(substitute))) return;
  const remedy = `run as root: apt-get install ${names.join(' ')}; to start Tidemark without these packages, ${COMPOSE_HINT}`;
  fail(`packages are missing and could not be installed; ${remedy}`);
}

/** Without root rights, mmdebstrap needs a range of subordinate ids; users created without adduser may have none. */
function ensureSubordinateIds() {
  const user = process.env.USER ?? spawnSync('id', ['-un'], { encoding: 'utf8' }).stdout.trim();
  const lacksIds = (file) =>
    !readText(file)
      .split('\n')
      .some((line) => line.startsWith(`${user}:`));
  if (!lacksIds('/etc/subuid') && !lacksIds('/etc/subgid')) return;
  const first = firstFreeId();
  const range = `${first}-${first + 65_535}`;
  print(`Adding subordinate ids ${range} to ${user} …`);
  const command = ['usermod', '--add-subuids', range, '--add-subgids', range, user];
  if (!CAN_BE_ROOT || !runAsRoot(command, process.env))
    fail(`subordinate ids could not be added; run as root: ${command.join(' ')}`);
}

function firstFreeId() {
  const ends = `${readText('/etc/subuid')}\n${readText('/etc/subgid')}`
    .split('\n')
    .map((line) => line.split(':'))
    .map(([, start, count]) => Number(start) + Number(count))
    .filter(Number.isFinite);
  return Math.max(100_000, ...ends);
}

function runAsRoot(argv, env) {
  const [program, ...rest] = IS_ROOT ? argv : ['sudo', '--preserve-env=DEBIAN_FRONTEND', ...argv];
  return spawnSync(program, rest, { stdio: ['inherit', 2, 2], env: { ...env, PATH: SEARCH_PATH } }).status === 0;
}

function ensureNodeModules() {
  if (isInstalledAsLocked()) return;
  print('Installing npm packages …');
  // The first try asks the registry only for what npm has not cached. The second try asks for everything, because a
  // cached list of versions can be too old. A second try also helps when npm stops halfway without an error message, as
  // npm 9 was seen to do.
  if (!runNpmCi('--prefer-offline') && !runNpmCi()) fail('`npm ci` failed, see above');
}

function runNpmCi(...options) {
  const npm = ['ci', '--no-fund', '--no-audit', ...options];
  return spawnSync('npm', npm, { cwd: CHECKOUT, stdio: ['inherit', 2, 2] }).status === 0;
}

/**
 * Returns whether the pinned Node exists and npm has installed all packages in their locked versions. Optional packages
 * are not checked, because npm installs them only on some platforms.
 */
function isInstalledAsLocked() {
  const installed = readJson(join(CHECKOUT, 'node_modules/.package-lock.json'))?.packages;
  if (!installed || !existsSync(pinnedNode())) return false;
  const locked = readJson(join(CHECKOUT, 'package-lock.json'))?.packages ?? {};
  return Object.entries(locked).every(
    ([path, entry]) => path === '' || entry.optional || installed[path]?.version === entry.version,
  );
}

function runCommand(command, rest) {
  const script = [pinnedNode(), join(CHECKOUT, `src/local/commands/${command}.ts`), ...rest];
  // With setpriv, the child gets SIGTERM when this process ends, even if this process is killed. A child that runs
  // `start`, `dev` or `reset` then stops the stack.
  const argv = isPresent('setpriv') ? ['setpriv', '--pdeathsig', 'TERM', ...script] : script;
  const child = spawn(argv[0], argv.slice(1), {
    cwd: process.cwd(),
    stdio: 'inherit',
    env: { ...process.env, PATH: SEARCH_PATH },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => fail(error.message));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + osConstants.signals[signal]));
}

function pinnedNode() {
  return join(CHECKOUT, 'node_modules/.bin/node');
}

function isPresent(program) {
  if (program.startsWith('/')) return existsSync(program);
  return SEARCH_PATH.split(delimiter).some((directory) => isExecutable(join(directory || '.', program)));
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function readText(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

function readJson(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

function print(text) {
  process.stderr.write(`${text}\n`);
}

function fail(reason) {
  print(`Tidemark: ${reason}.`);
  process.exit(1);
}
