/**
 * Measures recovery after kill -9. Under load, one role at a time is killed and started again. After each kill, pushes
 * show how long each stage takes to work again:
 * - push: a push is accepted.
 * - computed: the point computed from a push is stored.
 * - webhook: the webhook message of a push arrives.
 * - watch: WatchPoints sends the point of a push.
 *
 * The result of a stage is its median time. Only kills of a role that the stage needs (NEEDED) count.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { findFreePort } from '../../../src/local/services/ports.ts';
import { createGrpcReader } from '../../support/clients/grpc-client.ts';
import { openReceiver, SECRET } from '../../support/doubles/webhook-receiver.ts';
import { type ApiClient, signIn } from '../../support/fixtures/sign-in.ts';
import { calculated, createSiteAndSource, createVariable } from '../../support/fixtures/structure.ts';
import { type RoleEnvironment, type RoleProcess, startRoles } from '../../support/services/role-process.ts';
import { type Figure, figure, median } from '../report.ts';

const ROLES = ['api', 'grpc', 'ingester', 'calculator', 'deliverer'] as const;
type Role = (typeof ROLES)[number];

const ROUNDS = 3;
const PUSH_INTERVAL_MS = 100;
const LOADERS = 4;
const LOAD_PAUSE_MS = 50;
const SETTLE_MS = 2000;
const MAX_RECOVERY_MS = 60_000;
const START_MS = Date.parse('2026-01-01T00:00:00Z');
/** The rate limit is so high that it refuses no request of this bench. */
const SETTINGS = { API_RATE_PER_MINUTE: '1000000', LOG_LEVEL: 'error' };
const SCRIPT =
  'ts <- inputVariables$a$TimeSeries; list(TimeSeries = data.frame(Dates = ts$Dates, Values = 2 * ts$Values))';

/** Target for the median recovery time of each stage under load, in seconds. */
const LIMITS = { push: 3, computed: 5, webhook: 5, watch: 3 } as const;
type Stage = keyof typeof LIMITS;
/** The roles that each stage needs. Only kills of these roles count for the result of the stage. */
const NEEDED: Readonly<Record<Stage, readonly Role[]>> = {
  push: ['api'],
  computed: ['ingester', 'calculator'],
  webhook: ['ingester', 'deliverer'],
  watch: ['ingester', 'grpc'],
};
type Times = Readonly<Record<Stage, number>>;

interface Probe {
  /**
   * Sends pushes until every stage works, but for at most MAX_RECOVERY_MS.
   * @returns the seconds until each stage worked; for a stage that did not work, MAX_RECOVERY_MS in seconds.
   */
  measure(): Promise<Times>;
  close(): Promise<void>;
}

/** @param environment environment variables of the roles, including R_ROOT. */
export async function benchRecovery(environment: RoleEnvironment): Promise<readonly Figure[]> {
  const ports = { HTTP_PORT: String(await findFreePort()), GRPC_PORT: String(await findFreePort()) };
  const start = (role: Role) => startRoles([role], { ...environment, ...ports, ...SETTINGS });
  const running = new Map<Role, RoleProcess>();
  for (const role of ROLES) running.set(role, await start(role));
  const probe = await openProbe(running.get('api')?.http ?? '', running.get('grpc')?.grpc ?? '');
  const measured: { readonly role: Role; readonly times: Times }[] = [];
  try {
    await probe.measure();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const role of ROLES) {
        await pause(SETTLE_MS);
        await running.get(role)?.kill();
        const [times] = await Promise.all([probe.measure(), start(role).then((again) => running.set(role, again))]);
        measured.push({ role, times });
      }
    }
  } finally {
    await probe.close();
    await Promise.all([...running.values()].map((role) => role.kill()));
  }
  for (const role of ROLES) process.stdout.write(`${describe(role, measured)}\n`);
  return Object.entries(LIMITS).map(([stage, limitSec]) => {
    const roles = NEEDED[stage as Stage];
    const relevant = measured.filter(({ role }) => roles.includes(role));
    const pairs = relevant.map(({ times }) => [times[stage as Stage], limitSec] as const);
    return figure(
      `recovery after kill -9 of ${roles.join(' or ')}: ${stage}`,
      `of the target of ${limitSec} s`,
      's',
      pairs,
    );
  });
}

function describe(role: Role, measured: readonly { readonly role: Role; readonly times: Times }[]): string {
  const own = measured.filter((one) => one.role === role);
  const stages = Object.keys(LIMITS) as Stage[];
  const medians = stages.map((stage) => `${stage} ${median(own.map(({ times }) => times[stage])).toFixed(1)}`);
  return `  ${role} killed, medians in s: ${medians.join(', ')}`;
}

async function openProbe(http: string, grpc: string): Promise<Probe> {
  const api = await signIn(http);
  const { sourceId } = await createSiteAndSource(api);
  const input = await createVariable(api, sourceId);
  const inputs = [{ alias: 'a', variableId: input, period: 1, periodTimeBase: 'Minute' }];
  const doubled = await createVariable(api, sourceId, { calculated: calculated(SCRIPT, inputs) });
  const receiver = await openReceiver();
  const webhook = { name: 'recovery', url: receiver.url, eventType: 'DataPushCompleted', secret: SECRET };
  await api.call('POST', '/account/webhooks', webhook);
  const load = startLoad(api, sourceId);
  const watch = startWatch(api, grpc, input);
  let value = 0;
  return {
    measure: async () => {
      const beganMs = performance.now();
      const first = value + 1;
      const secondsSince = () => (performance.now() - beganMs) / 1000;
      const found: Partial<Record<Stage, number>> = {};
      const note = (stage: Stage, isReached: boolean) => {
        if (isReached) found[stage] ??= secondsSince();
      };
      const isOver = () =>
        Object.keys(LIMITS).every((stage) => found[stage as Stage] !== undefined) ||
        performance.now() - beganMs > MAX_RECOVERY_MS;
      const pushes: Promise<void>[] = [];
      const readComputed = async () => {
        const answer = await api.get<{ rawValue: number }[]>(`/data?variableId=${doubled}&from=${dateOf(first)}`);
        note('computed', answer.status === 200 && answer.body.length > 0);
      };
      const isDelivered = () => receiver.received.some(({ body }) => pushedValue(body.data) >= first);
      while (!isOver()) {
        value += 1;
        pushes.push(push(api, input, value).then((isAccepted) => note('push', isAccepted)));
        pushes.push(readComputed().catch(() => {}));
        note('webhook', isDelivered());
        note('watch', watch.last() >= first);
        await pause(PUSH_INTERVAL_MS);
      }
      await Promise.allSettled(pushes);
      const never = MAX_RECOVERY_MS / 1000;
      return { push: never, computed: never, webhook: never, watch: never, ...found };
    },
    close: async () => {
      load.stop();
      watch.stop();
      await receiver.close();
    },
  };
}

const dateOf = (value: number) => new Date(START_MS + value * 60_000).toISOString();

async function push(api: ApiClient, variableId: number, value: number): Promise<boolean> {
  const body = [{ variableId, data: [{ date: dateOf(value), value }] }];
  const answer = await api.post(`/api/data?operationId=recovery-${value}`, body).catch(() => undefined);
  return answer?.status === 200;
}

/**
 * Reads the pushed value from the data of a push's event. The function `push` puts the value into the operation id,
 * and the data of the event contain this id.
 * @returns the pushed value; 0 for a push of `startLoad`.
 */
function pushedValue(data: unknown): number {
  const { operationId = '' } = data as { readonly operationId?: string };
  return Number(/^recovery-(\d+)$/.exec(operationId)?.[1] ?? 0);
}

/** Starts pushes to new variables, which the probe does not use. The pushes continue until `stop` is called. */
function startLoad(api: ApiClient, sourceId: number) {
  let isStopped = false;
  const run = async (): Promise<void> => {
    const variableId = await createVariable(api, sourceId);
    for (let value = 1; !isStopped; value += 1) {
      await api.post('/api/data', [{ variableId, data: [{ date: dateOf(value), value }] }]).catch(() => {});
      await pause(LOAD_PAUSE_MS);
    }
  };
  for (let count = 0; count < LOADERS; count += 1) void run().catch(() => {});
  return {
    stop: () => {
      isStopped = true;
    },
  };
}

/** Watches a variable. When the watch ends, starts another one from the last cursor. */
function startWatch(api: ApiClient, grpc: string, variableId: number) {
  let isStopped = false;
  let last = 0;
  const run = async (): Promise<void> => {
    let cursor: Buffer | undefined;
    while (!isStopped) {
      const reader = createGrpcReader(grpc, api.token);
      const call = reader.open<{ points?: { values: readonly number[] } | null; cursor: Buffer }>('WatchPoints', {
        variableIds: [variableId],
        ...(cursor && { cursor }),
      });
      await new Promise<void>((resolve) => {
        call.on('data', (message) => {
          cursor = message.cursor;
          last = Math.max(last, ...(message.points?.values ?? []));
        });
        call.on('error', () => resolve());
        call.on('end', () => resolve());
      });
      reader.close();
      await pause(PUSH_INTERVAL_MS);
    }
  };
  void run();
  return {
    last: () => last,
    stop: () => {
      isStopped = true;
    },
  };
}
