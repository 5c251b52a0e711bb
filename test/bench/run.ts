/**
 * `npm run bench [-- --only SECTION,… --json FILE]`: prints ratios of measurements to their limits. Without `--only`,
 * all sections run. Without R_ROOT, the sections in NEED_R are left out.
 */
import { readConfig } from '../../src/config.ts';
import { prepareConsole } from '../../src/local/console-setup.ts';
import { createProgress } from '../../src/local/progress.ts';
import { type Database, openDatabase } from '../../src/platform/database/database.ts';
import { createLog } from '../../src/platform/log.ts';
import { type ApiClient, seedManager, signIn } from '../support/fixtures/sign-in.ts';
import { startRoles } from '../support/services/role-process.ts';
import { benchCalculation } from './engine/calculation-bench.ts';
import { benchPoints } from './engine/points-bench.ts';
import { benchReads } from './engine/read-bench.ts';
import { benchSandbox } from './engine/sandbox-bench.ts';
import { benchStorage } from './engine/storage-bench.ts';
import { benchFairness } from './fairness/fairness-bench.ts';
import { benchFileMemory } from './files/file-memory-bench.ts';
import { benchFiles } from './files/files-bench.ts';
import { type Delays, watchEventLoop } from './load/event-loop.ts';
import { type Figure, jsonWriter, printFigures } from './report.ts';
import { benchAnswers } from './service/answers-bench.ts';
import { benchBrokenReceivers } from './service/broken-receivers-bench.ts';
import { benchCalculationService } from './service/calculation-service-bench.ts';
import { benchConsole } from './service/console-bench.ts';
import { benchHttpReads } from './service/http-read-bench.ts';
import { benchImport, IMPORT_ENVIRONMENT } from './service/import-bench.ts';
import { benchPush } from './service/push-bench.ts';
import { benchRecovery } from './service/recovery-bench.ts';
import { benchRewrite } from './service/rewrite-bench.ts';
import { benchSmallPush } from './service/small-push-bench.ts';
import { benchStructure } from './service/structure-bench.ts';
import { benchWatch, WATCH_ENVIRONMENT } from './service/watch-bench.ts';
import { benchWebhooks, WEBHOOK_BENCH_ENVIRONMENT } from './service/webhook-bench.ts';

const PASSED_ON = ['DATABASE_URL', 'REDIS_URL', 'R_ROOT'] as const;

const log = createLog('error', 'bench');
const config = readConfig(process.env);
const environment = {
  ...Object.fromEntries(PASSED_ON.flatMap((name) => (config[name] ? [[name, config[name]]] : []))),
  ...WEBHOOK_BENCH_ENVIRONMENT,
};

interface Service {
  readonly api: ApiClient;
  readonly http: string;
  /** host:port of the gRPC role; empty when the role is not started. */
  readonly grpc: string;
  readonly pid: number;
  /** @returns the delays of the role's event loop since the last call. */
  readonly readDelays: () => Promise<Delays>;
}

/** Starts the roles in a separate process, runs `bench` against them, and then ends the process. */
async function withService<Result>(
  roles: readonly string[],
  bench: (service: Service) => Promise<Result>,
  settings: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const eventLoop = watchEventLoop();
  const service = await startRoles(roles, {
    ...environment,
    ...eventLoop.environment,
    ...settings,
    LOG_LEVEL: 'error',
  });
  const { http, grpc, pid } = service;
  try {
    return await bench({ api: await signIn(http), http, grpc, pid, readDelays: () => eventLoop.read(service) });
  } finally {
    await service.kill('SIGTERM');
  }
}

type Bench = (database: Database, accountId: number) => Promise<readonly Figure[]>;

const NEED_R = ['sandbox', 'calculation', 'recovery'];
const SECTIONS: Readonly<Record<string, Bench>> = {
  points: benchPoints,
  reads: benchReads,
  'http-reads': (database) => withService(['api', 'ingester'], (service) => benchHttpReads(database, service)),
  storage: benchStorage,
  answers: (database) => benchAnswers(database, (bench) => withService(['api'], bench)),
  push: (database, accountId) =>
    withService(['api', 'ingester'], (service) => benchPush({ ...service, database, accountId })),
  rewrite: (database, accountId) =>
    withService(['api', 'ingester'], (service) => benchRewrite({ ...service, database, accountId })),
  'small-push': async (database) => [
    await withService(['api', 'ingester'], ({ api, http }) => benchSmallPush(database, api, http)),
  ],
  files: (database) => withService(['api', 'ingester'], (service) => benchFiles({ ...service, database })),
  'file-memory': (database) => withService(['api', 'ingester'], (service) => benchFileMemory({ ...service, database })),
  import: () => withService(['api', 'ingester'], benchImport, IMPORT_ENVIRONMENT),
  structure: (database, accountId) =>
    withService(['api'], ({ api, http }) =>
      benchStructure({ database, accountId, api, origin: http, url: config.DATABASE_URL }),
    ),
  console: async (database) => {
    const directory = await prepareConsole(createProgress(process.stderr));
    return withService(['api', 'ingester'], (service) => benchConsole(database, service), {
      CONSOLE_DIRECTORY: directory,
    });
  },
  watch: () => withService(['api', 'ingester', 'grpc'], benchWatch, WATCH_ENVIRONMENT),
  sandbox: async () => [await benchCalculation(config, log), ...(await benchSandbox(config, log))],
  calculation: (database) =>
    withService(['api', 'ingester', 'calculator'], ({ api }) => benchCalculationService(database, api)),
  fairness: (database) => benchFairness(database, withService, config.R_ROOT !== undefined),
  recovery: () => benchRecovery(environment),
  webhooks: async (database) => {
    const queueOptions = { redisUrl: config.REDIS_URL, prefix: config.QUEUE_PREFIX, log };
    return [await withService(['api', 'deliverer'], () => benchWebhooks(database, queueOptions))];
  },
  'broken-receivers': async (database) => {
    const queueOptions = { redisUrl: config.REDIS_URL, prefix: config.QUEUE_PREFIX, log };
    return [await withService(['api', 'deliverer'], () => benchBrokenReceivers(database, queueOptions))];
  },
};

/** @throws {Error} when `--only` names an unknown section. */
function chooseSections(argv: readonly string[]): readonly string[] {
  const index = argv.indexOf('--only');
  const wanted = index < 0 ? Object.keys(SECTIONS) : (argv[index + 1] ?? '').split(',');
  const unknown = wanted.filter((name) => !SECTIONS[name]);
  if (unknown.length > 0) throw new Error(`--only takes ${Object.keys(SECTIONS).join()}; got "${unknown.join()}"`);
  return wanted;
}

const sections = chooseSections(process.argv);
const writeJson = jsonWriter(process.argv);
const database = openDatabase({ url: config.DATABASE_URL, poolSize: 4, applicationName: 'bench', log });
const figures: Figure[] = [];
try {
  const accountId = await seedManager(database);
  for (const name of sections) {
    if (NEED_R.includes(name) && config.R_ROOT === undefined) {
      process.stdout.write(`${name}: left out, this machine cannot run R\n`);
      continue;
    }
    // The figures are printed and written after each section. If a section fails, those of earlier sections remain.
    const found = (await SECTIONS[name]?.(database, accountId)) ?? [];
    printFigures(found);
    figures.push(...found);
    writeJson(figures);
  }
} finally {
  await database.end();
}
