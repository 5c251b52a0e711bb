/**
 * `npm run bench -- --only fairness [--case RESOURCE,…]`: measures the p95 of an operation of account B for each shared
 * resource (R-A14). While account A produces its worst load, the p95 of B may be at most 3 times its p95 without this
 * load (quiet p95).
 */
import type { Database } from '../../../src/platform/database/database.ts';
import { addAccount, addUser } from '../../support/fixtures/accounts.ts';
import { signIn } from '../../support/fixtures/sign-in.ts';
import { type Figure, figure, median } from '../report.ts';
import { CASES } from './cases.ts';
import type { FairnessAccount, FairnessCase, FairnessRun } from './fairness-case.ts';
import type { LoadReport } from './load-process.ts';
import { startLoadProcess } from './start-load-process.ts';

const MAX_RATIO = 3;
const ROUNDS = 3;
const OPERATIONS = 40;
const WARM_UP = 10;
/**
 * Duration recorded for a refused operation. It is far above the maximum p95 of every case (MAX_RATIO times the quiet
 * p95).
 */
const REFUSED_MS = 60_000;

interface RunningService {
  readonly http: string;
  readonly grpc: string;
  readonly pid: number;
}

/**
 * A measured case, with two medians of account A's load: the number of answers per second, and the number of processor
 * cores used.
 */
type FairnessFigure = Figure & LoadReport;

/** Starts one process for all `roles`, calls `bench`, and ends the process afterwards. */
export type WithService = (
  roles: readonly string[],
  bench: (service: RunningService) => Promise<FairnessFigure>,
  settings?: Readonly<Record<string, string>>,
) => Promise<FairnessFigure>;

/** @param canRunR whether this machine can run R. When it cannot, the cases that start a calculator are left out. */
export async function benchFairness(
  database: Database,
  withService: WithService,
  canRunR: boolean,
): Promise<readonly Figure[]> {
  const figures: FairnessFigure[] = [];
  for (const fairnessCase of chooseCases(process.argv)) {
    const { resource, roles, settings } = fairnessCase;
    if (roles.includes('calculator') && !canRunR) {
      process.stdout.write(`fairness of ${resource}: left out, this machine cannot run R\n`);
      continue;
    }
    figures.push(await withService(roles, (service) => measureCase(fairnessCase, database, service), settings));
  }
  printTable(figures);
  return figures;
}

/** @throws {Error} when `--case` names an unknown resource. */
function chooseCases(argv: readonly string[]): readonly FairnessCase[] {
  const index = argv.indexOf('--case');
  if (index < 0) return CASES;
  return (argv[index + 1] ?? '').split(',').map((name) => {
    const found = CASES.find(({ resource }) => resource === name);
    if (found) return found;
    throw new Error(`--case takes ${CASES.map(({ resource }) => resource).join()}; got "${name}"`);
  });
}

async function measureCase(
  { resource, prepare, operations = OPERATIONS }: FairnessCase,
  database: Database,
  service: RunningService,
): Promise<FairnessFigure> {
  const accountA = await addFairnessAccount(database, service.http, `${resource} A`);
  const accountB = await addFairnessAccount(database, service.http, `${resource} B`);
  const run = await prepare({ ...service, database, accountA, accountB });
  const refusals = new Set<string>();
  for (let count = 0; count < WARM_UP; count += 1) await run.operation();
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push(await measureRound({ resource, run, operations, refusals }));
  }
  for (const refusal of refusals) process.stdout.write(`fairness of ${resource}: B was refused: ${refusal}\n`);
  const pairs = rounds.map(({ besideMs, quietMs }) => [besideMs, quietMs] as const);
  return {
    ...figure(resource, `of B's quiet p95 beside A's worst load (limit: ${MAX_RATIO.toFixed(1)})`, 'ms', pairs),
    answersPerSec: median(rounds.map(({ load }) => load.answersPerSec)),
    cores: median(rounds.map(({ load }) => load.cores)),
  };
}

interface Measured {
  readonly resource: string;
  readonly run: FairnessRun<unknown>;
  readonly operations: number;
  readonly refusals: Set<string>;
}

interface Round {
  readonly quietMs: number;
  readonly besideMs: number;
  readonly load: LoadReport;
}

async function measureRound({ resource, run, operations, refusals }: Measured): Promise<Round> {
  const quietMs = await measureP95(run, operations, refusals);
  const load = await startLoadProcess({ resource, load: run.load });
  try {
    return { quietMs, besideMs: await measureP95(run, operations, refusals), load: await load.stop() };
  } finally {
    await run.settle?.();
  }
}

/** @returns the 95th percentile of the operation's time in milliseconds; operations run one after the other. */
async function measureP95(run: FairnessRun<unknown>, operations: number, refusals: Set<string>): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < operations; count += 1) {
    const startMs = performance.now();
    const isDone = await run.operation().then(
      () => true,
      (error: unknown) => {
        refusals.add(String(error));
        return false;
      },
    );
    times.push(isDone ? performance.now() - startMs : REFUSED_MS);
  }
  return times.sort((a, b) => a - b)[Math.ceil(operations * 0.95) - 1] ?? Number.NaN;
}

async function addFairnessAccount(database: Database, http: string, name: string): Promise<FairnessAccount> {
  const accountId = await addAccount(database, name);
  const userName = `${name.toLowerCase().replaceAll(' ', '-')}@example.test`;
  await addUser(database, userName, { role: 'MANAGER', accountIds: [accountId], mayPush: true });
  return { accountId, userName, api: await signIn(http, undefined, userName) };
}

function printTable(figures: readonly FairnessFigure[]): void {
  const width = Math.max('resource'.length, ...figures.map(({ name }) => name.length));
  const row = (name: string, ...cells: readonly string[]) =>
    `${name.padEnd(width)}${cells.map((cell) => cell.padStart(14)).join('')}\n`;
  process.stdout.write(
    "A's load runs in a process of its own at the lowest priority (nice 19); B's operations run in the bench.\n",
  );
  process.stdout.write(
    row('resource', 'quiet p95 ms', 'beside p95 ms', 'ratio', 'limit', '', 'answers/s A', 'cores A'),
  );
  for (const { name, limit, ours, ratio, answersPerSec, cores } of figures) {
    const verdict = ratio <= MAX_RATIO ? 'kept' : 'MISSED';
    const load = [answersPerSec.toFixed(0), cores.toFixed(2)];
    process.stdout.write(
      row(name, limit.toFixed(1), ours.toFixed(1), ratio.toFixed(2), MAX_RATIO.toFixed(1), verdict, ...load),
    );
  }
}
