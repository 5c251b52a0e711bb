/**
 * All watches of a process, over gRPC and HTTP, share their work, so that idle watches cost almost nothing: one
 * subscription to point notifications; one poll of all watched variables every few seconds, to find changes whose
 * notification was lost; and one access check of each token per second (R-B5). A notification only marks a variable as
 * changed; the points always come from the database.
 */
import { type Authentication, authenticateBearer } from '../identity/authentication/authenticate.ts';
import type { Caller } from '../identity/caller/caller.ts';
import { reachesSource, readReach } from '../identity/caller/site-reach.ts';
import type { Database, Queryable } from '../platform/database/database.ts';
import { DomainError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { startSweeper } from '../platform/sweep.ts';
import type { Micros } from '../points/point.ts';
import { openPointSubscriber, type PointNotificationOptions } from '../points/read/point-notifications.ts';
import type { Watch } from './watch.ts';

export interface WatchHubOptions {
  readonly database: Database;
  readonly authentication: Authentication;
  readonly notifications: PointNotificationOptions;
  /** Pause between polls, which find changes whose notification was lost. */
  readonly pollMs: number;
  /** A watch sends its cursor when it has sent no message for this long. */
  readonly heartbeatMs: number;
  readonly limits: WatchLimits;
  readonly log: Log;
}

/** Maximum numbers of watches that may be open in a process at the same time (R-A14, R-J3). */
export interface WatchLimits {
  readonly perUser: number;
  /** Maximum number of watches of all accounts together; one account may have at most half of it, rounded up. */
  readonly total: number;
}

export interface WatchHub {
  /** Opens a group for the watches of one server (gRPC or HTTP) of the process. */
  openGroup(): WatchGroup;
  stop(): Promise<void>;
}

export interface WatchGroup {
  /**
   * Runs a watch until its end.
   * @returns the number of points sent; resolves when the client has disconnected.
   * @throws {DomainError} rate_limited when the user or the account has too many watches; dependency_unavailable when
   * the process has too many watches, or when the group has stopped; otherwise the error that ended the watch.
   */
  run(watch: Watch): Promise<number>;
  /**
   * Ends every watch of the group with the error dependency_unavailable. Clients then resume on another process, from
   * their cursors (R-K2).
   */
  stop(): void;
}

const CHECK_MS = 1000;
/** Maximum time since the last successful access check of a watch. After this time, the watch ends (R-B5). */
const MAX_UNCHECKED_MS = 30_000;
/** Maximum number of variable ids in one poll query. */
const MAX_IDS = 10_000;

const stopped = () =>
  new DomainError('dependency_unavailable', 'the service is stopping; call again with the last cursor');

/** Time of the last write of a variable, and the account, site and source that decide who may read the variable. */
interface VariableState {
  readonly variableId: number;
  readonly accountId: number;
  readonly sourceId: number;
  readonly siteId: number;
  /** Greatest VersionTimestamp of the variable; null when the variable was never written. */
  readonly lastVersionTimestamp: Micros | null;
}

const FIND_STATES = `
  select variable.id as "variableId", variable.account_id as "accountId", variable.source_id as "sourceId",
         source.site_id as "siteId",
         case when last_version_timestamp > '-infinity'
              then (extract(epoch from last_version_timestamp) * 1000000)::int8 end as "lastVersionTimestamp"
  from variable join source on source.id = variable.source_id left join series on series.variable_id = variable.id
  where variable.id = any($1::int[])`;

interface Entry {
  readonly watch: Watch;
  caller: Caller;
  checkedMs: number;
}

/** Registers the open watches of a process, and finds the watches of a variable. */
class WatchRegistry {
  readonly entries = new Set<Entry>();
  readonly #byVariable = new Map<number, Set<Entry>>();

  variableIds(): readonly number[] {
    return [...this.#byVariable.keys()];
  }

  watching(variableId: number): Iterable<Entry> {
    return this.#byVariable.get(variableId) ?? [];
  }

  /**
   * @throws {DomainError} rate_limited when the user or the account has too many watches; dependency_unavailable when
   * the process has too many.
   */
  add(watch: Watch, limits: WatchLimits): Entry {
    const { caller, variables } = watch.options;
    this.#assertFree(caller, limits);
    const entry: Entry = { watch, caller, checkedMs: performance.now() };
    this.entries.add(entry);
    for (const variableId of variables.keys()) {
      const others = this.#byVariable.get(variableId);
      if (others) others.add(entry);
      else this.#byVariable.set(variableId, new Set([entry]));
    }
    return entry;
  }

  #assertFree({ userId, userName, accountId }: Caller, { perUser, total }: WatchLimits): void {
    let [ofUser, ofAccount] = [0, 0];
    for (const { caller } of this.entries) {
      if (caller.userId === userId) ofUser += 1;
      if (caller.accountId === accountId) ofAccount += 1;
    }
    if (ofUser >= perUser) {
      throw new DomainError(
        'rate_limited',
        `a user may have at most ${perUser} open watches on this server, and ${userName} has ${ofUser}; close one first`,
      );
    }
    const perAccount = Math.ceil(total / 2);
    if (ofAccount >= perAccount) {
      throw new DomainError(
        'rate_limited',
        `an account may have at most ${perAccount} open watches on this server, and account ${accountId} has ` +
          `${ofAccount}; close one of them, or retry later`,
      );
    }
    if (this.entries.size >= total) {
      throw new DomainError(
        'dependency_unavailable',
        `this server already has its maximum of ${total} open watches; retry later`,
      );
    }
  }

  remove(entry: Entry): void {
    this.entries.delete(entry);
    for (const variableId of entry.watch.options.variables.keys()) {
      const others = this.#byVariable.get(variableId);
      others?.delete(entry);
      if (others?.size === 0) this.#byVariable.delete(variableId);
    }
  }
}

/** Starts the regular polls, the regular access checks (R-B5) and the subscription to point notifications. */
export function openWatchHub(options: WatchHubOptions): WatchHub {
  const { database, authentication, pollMs, heartbeatMs, limits, log } = options;
  const registry = new WatchRegistry();
  let states: ReadonlyMap<number, VariableState> = new Map();
  const poll = async (): Promise<void> => {
    const variableIds = registry.variableIds();
    const before = states;
    states = await findStates(database, variableIds);
    for (const variableId of variableIds) {
      const now = states.get(variableId);
      if (now && isSame(before.get(variableId), now)) continue;
      for (const entry of registry.watching(variableId)) compare(entry, variableId, now);
    }
  };
  const checkWatches = async (): Promise<void> => {
    await checkAccess(authentication, registry.entries, () => states);
    for (const { watch } of registry.entries) watch.heartbeat(heartbeatMs);
  };
  const sweepers = [
    startSweeper('watched variables', pollMs, poll, log),
    startSweeper('watches', CHECK_MS, checkWatches, log),
  ];
  const pollSoon = (): void => {
    poll().catch((error: unknown) =>
      log.warn({ err: error }, 'a poll for changed points failed; the next poll will find them'),
    );
  };
  const listener = openPointSubscriber(options.notifications, (variableIds) => {
    if (registry.entries.size === 0) return;
    if (!variableIds) pollSoon();
    for (const variableId of variableIds ?? []) {
      for (const { watch } of registry.watching(variableId)) watch.markChanged(variableId);
    }
  });
  return {
    openGroup: () => openGroup(registry, limits),
    stop: async () => {
      listener.close();
      for (const { watch } of registry.entries) watch.end(stopped());
      await Promise.all(sweepers.map((sweeper) => sweeper.stop()));
    },
  };
}

function openGroup(registry: WatchRegistry, limits: WatchLimits): WatchGroup {
  const watches = new Set<Watch>();
  let isStopped = false;
  return {
    run: async (watch) => {
      if (isStopped) throw stopped();
      const entry = registry.add(watch, limits);
      watches.add(watch);
      try {
        return await watch.run();
      } finally {
        registry.remove(entry);
        watches.delete(watch);
      }
    },
    stop: () => {
      isStopped = true;
      for (const watch of watches) watch.end(stopped());
    },
  };
}

/** Checks the access of all watches. Authenticates each token once, for all watches that were opened with the token. */
async function checkAccess(
  authentication: Authentication,
  entries: ReadonlySet<Entry>,
  states: () => ReadonlyMap<number, VariableState>,
): Promise<void> {
  const groups = Map.groupBy(entries, ({ watch }) => watch.options.authorization);
  await Promise.all(
    [...groups].map(async ([authorization, group]) => {
      const startMs = performance.now();
      const caller = await authenticateBearer(authentication, authorization, 'datahub-api').catch(
        (error: unknown) => error,
      );
      for (const entry of group) applyAccess(entry, caller as Caller | Error, startMs, states());
    }),
  );
}

async function findStates(
  queryable: Queryable,
  variableIds: readonly number[],
): Promise<ReadonlyMap<number, VariableState>> {
  const found = new Map<number, VariableState>();
  for (let start = 0; start < variableIds.length; start += MAX_IDS) {
    const ids = variableIds.slice(start, start + MAX_IDS);
    const { rows } = await queryable.query<VariableState>(FIND_STATES, [ids]);
    for (const row of rows) found.set(row.variableId, row);
  }
  return found;
}

/** Returns true when the state is unchanged since the previous poll. Then every watch already knows the state. */
function isSame(before: VariableState | undefined, now: VariableState): boolean {
  return (
    before !== undefined &&
    before.lastVersionTimestamp === now.lastVersionTimestamp &&
    before.sourceId === now.sourceId &&
    before.siteId === now.siteId &&
    before.accountId === now.accountId
  );
}

/** Wakes a watch that has missed a write. Ends the watch if the variable is deleted or hidden from the caller. */
function compare({ watch, caller }: Entry, variableId: number, now: VariableState | undefined): void {
  if (!now || !isVisible(caller, now)) {
    watch.end(notFound(variableId));
    return;
  }
  const seen = watch.positionOf(variableId)?.versionTimestamp ?? Number.POSITIVE_INFINITY;
  if (now.lastVersionTimestamp !== null && now.lastVersionTimestamp > seen) watch.markChanged(variableId);
}

/**
 * Applies the result of an access check that began at `startMs`. If the check could not be completed, the watch
 * continues for MAX_UNCHECKED_MS after its last successful check.
 */
function applyAccess(
  entry: Entry,
  caller: Caller | Error,
  startMs: number,
  states: ReadonlyMap<number, VariableState>,
): void {
  const { watch } = entry;
  if (caller instanceof Error) {
    const isRefused = caller instanceof DomainError && caller.code !== 'dependency_unavailable';
    if (isRefused || performance.now() - entry.checkedMs > MAX_UNCHECKED_MS) watch.end(caller);
    return;
  }
  entry.checkedMs = startMs;
  const isChanged = caller.sites !== entry.caller.sites || caller.accountId !== entry.caller.accountId;
  entry.caller = caller;
  if (!isChanged) return;
  for (const variableId of watch.options.variables.keys()) {
    const now = states.get(variableId);
    if (now && !isVisible(caller, now)) watch.end(notFound(variableId));
  }
}

function isVisible(caller: Caller, { accountId, siteId, sourceId }: VariableState): boolean {
  return caller.accountId === accountId && reachesSource(readReach(caller), siteId, sourceId);
}

/** @returns the error not_found, with the same text as for a variable that does not exist (R-B9). */
function notFound(variableId: number): DomainError {
  return new DomainError('not_found', `variable ${variableId} does not exist`);
}
