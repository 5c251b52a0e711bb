/**
 * What all watches of a process share, so that a thousand idle ones cost nearly nothing: one ear for news, one query for all
 * watched variables every few seconds, since news may get lost, and one look a second at whether readers still may read
 * (R-B5). Change only say where to look: what is sent always comes from the database.
 */
import { type Authentication, authenticateBearer } from '../../identity/authentication/authenticate.ts';
import type { Caller } from '../../identity/caller/caller.ts';
import { reachesSource, readReach } from '../../identity/caller/site-reach.ts';
import type { Database } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { startSweeper } from '../../platform/sweep.ts';
import { openPointSubscriber, type PointNotificationOptions } from '../../points/read/point-notifications.ts';
import { findVariableStates, type VariableState } from './find-variable-states.ts';
import type { Watch } from './watch.ts';

export interface WatchHubOptions {
  readonly database: Database;
  readonly authentication: Authentication;
  readonly news: PointNotificationOptions;
  /** Pause between looks for news that got lost. */
  readonly pollMs: number;
  /** A reader that got nothing for so long gets its cursor. */
  readonly heartbeatMs: number;
  readonly maxPerUser: number;
  readonly log: Log;
}

export interface WatchHub {
  /** Runs a watch to its end. @throws DomainError rate_limited; what the watch was ended with. */
  run(watch: Watch): Promise<number>;
  /** Ends all watches: their readers come back elsewhere with their cursors (R-K2). */
  stop(): Promise<void>;
}

const LOOK_MS = 1000;
// Longer than that nobody goes on without having been looked at (R-B5).
const LONGEST_UNCHECKED_MS = 30_000;
const MAX_IDS = 10_000;

const stopped = () => new DomainError('dependency_unavailable', 'the service stops: go on with the last cursor');

interface Entry {
  readonly watch: Watch;
  caller: Caller;
  checkedMs: number;
}

export function openWatchHub(options: WatchHubOptions): WatchHub {
  const { database, authentication, pollMs, heartbeatMs, maxPerUser, log } = options;
  const entries = new Set<Entry>();
  const byVariable = new Map<number, Set<Entry>>();
  let whereabouts: ReadonlyMap<number, VariableState> = new Map();
  let isStopped = false;

  const poll = async (): Promise<void> => {
    const ids = [...byVariable.keys()];
    const found = new Map<number, VariableState>();
    for (let start = 0; start < ids.length; start += MAX_IDS) {
      for (const row of (await findVariableStates(database, ids.slice(start, start + MAX_IDS))).values()) {
        found.set(row.variableId, row);
      }
    }
    const before = whereabouts;
    whereabouts = found;
    for (const variableId of ids) {
      const now = found.get(variableId);
      if (now && isSame(before.get(variableId), now)) continue;
      for (const entry of byVariable.get(variableId) ?? []) compare(entry, variableId, now);
    }
  };
  const look = async (): Promise<void> => {
    await checkAccess(entries, authentication);
    for (const { watch } of entries) watch.beat(heartbeatMs);
  };
  /** One caller for all that came with the same token. */
  const checkAccess = async (watched: ReadonlySet<Entry>, doors: Authentication): Promise<void> => {
    const groups = Map.groupBy(watched, ({ watch }) => watch.options.authorization);
    await Promise.all(
      [...groups].map(async ([authorization, group]) => {
        const startMs = performance.now();
        const caller = await authenticateBearer(doors, authorization, 'datahub-api').catch((error: unknown) => error);
        for (const entry of group) applyAccess(entry, caller as Caller | Error, startMs, whereabouts);
      }),
    );
  };

  const sweepers = [startSweeper('watched variables', pollMs, poll, log), startSweeper('watches', LOOK_MS, look, log)];
  const listener = openPointSubscriber(options.news, (variableIds) => {
    if (entries.size === 0) return;
    if (!variableIds) void poll().catch((error: unknown) => log.warn({ err: error }, 'news are looked for later'));
    for (const variableId of variableIds ?? []) {
      for (const { watch } of byVariable.get(variableId) ?? []) watch.tell(variableId);
    }
  });

  const add = (watch: Watch): Entry => {
    if (isStopped) throw stopped();
    const { caller, variables } = watch.options;
    const open = [...entries].filter((other) => other.caller.userId === caller.userId).length;
    if (open >= maxPerUser) {
      throw new DomainError(
        'rate_limited',
        `a user may have ${maxPerUser} watches open, ${caller.userName} has ${open}`,
      );
    }
    const entry: Entry = { watch, caller, checkedMs: performance.now() };
    entries.add(entry);
    for (const variableId of variables.keys()) {
      const others = byVariable.get(variableId);
      if (others) others.add(entry);
      else byVariable.set(variableId, new Set([entry]));
    }
    return entry;
  };
  const remove = (entry: Entry): void => {
    entries.delete(entry);
    for (const variableId of entry.watch.options.variables.keys()) {
      const others = byVariable.get(variableId);
      others?.delete(entry);
      if (others?.size === 0) byVariable.delete(variableId);
    }
  };
  return {
    run: async (watch) => {
      const entry = add(watch);
      try {
        return await watch.run();
      } finally {
        remove(entry);
      }
    },
    stop: async () => {
      isStopped = true;
      listener.close();
      for (const { watch } of entries) watch.end(stopped());
      await Promise.all(sweepers.map((sweeper) => sweeper.stop()));
    },
  };
}

/** What has not changed since the last look was compared then, or seen by a watch that began since. */
function isSame(before: VariableState | undefined, now: VariableState): boolean {
  return (
    before !== undefined &&
    before.lastVersionTimestamp === now.lastVersionTimestamp &&
    before.sourceId === now.sourceId &&
    before.siteId === now.siteId &&
    before.accountId === now.accountId
  );
}

/** Wakes a watch that has not heard of something, and ends one whose reader may not see the variable any more. */
function compare({ watch, caller }: Entry, variableId: number, now: VariableState | undefined): void {
  if (!now || !isVisible(caller, now)) {
    watch.end(hidden(variableId));
    return;
  }
  const seen = watch.placeOf(variableId)?.versionTimestamp ?? Number.POSITIVE_INFINITY;
  if (now.lastVersionTimestamp !== null && now.lastVersionTimestamp > seen) watch.tell(variableId);
}

function applyAccess(
  entry: Entry,
  caller: Caller | Error,
  startMs: number,
  whereabouts: ReadonlyMap<number, VariableState>,
): void {
  const { watch } = entry;
  if (caller instanceof Error) {
    const isRefused = caller instanceof DomainError && caller.code !== 'dependency_unavailable';
    if (isRefused || performance.now() - entry.checkedMs > LONGEST_UNCHECKED_MS) watch.end(caller);
    return;
  }
  entry.checkedMs = startMs;
  const isChanged = caller.sites !== entry.caller.sites || caller.accountId !== entry.caller.accountId;
  entry.caller = caller;
  if (!isChanged) return;
  for (const variableId of watch.options.variables.keys()) {
    const now = whereabouts.get(variableId);
    if (now && !isVisible(caller, now)) watch.end(hidden(variableId));
  }
}

function isVisible(caller: Caller, { accountId, siteId, sourceId }: VariableState): boolean {
  return caller.accountId === accountId && reachesSource(readReach(caller), siteId, sourceId);
}

/** As a reader is told who asks for it now. */
function hidden(variableId: number): DomainError {
  return new DomainError('not_found', `variable ${variableId} does not exist`);
}
