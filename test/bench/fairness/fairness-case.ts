/**
 * A case of the fairness bench (R-A14): one shared resource, the worst load that account A can put on it, and the
 * operation that account B runs during this load. A new case needs a file in `cases/` that exports
 * `fairnessCase({…})`, and a line in `cases.ts`.
 */
import type { Database } from '../../../src/platform/database/database.ts';
import type { ApiClient } from '../../support/fixtures/sign-in.ts';

/** A new account with one MANAGER, who may push. */
export interface FairnessAccount {
  readonly accountId: number;
  readonly userName: string;
  /** Signed in as the manager. */
  readonly api: ApiClient;
}

/** The process under test, which runs all roles of the case, and two fresh accounts. */
export interface FairnessService {
  readonly database: Database;
  /** Origin of the API. */
  readonly http: string;
  /** host:port of the gRPC role; empty when the case does not start this role. */
  readonly grpc: string;
  readonly pid: number;
  readonly accountA: FairnessAccount;
  readonly accountB: FairnessAccount;
}

export interface FairnessRun<Load> {
  /** Input of the process that runs the load. The process gets this input as JSON. */
  readonly load: Load;
  /** Runs one operation of account B. Resolves when its result is available; rejects when B is refused. */
  operation(): Promise<void>;
  /**
   * Resolves when the service has released everything that it used for the load that just ended. Without `settle`, the
   * bench does not wait.
   */
  settle?(): Promise<void>;
}

/** Ends the load. Resolves when all clients of the load have stopped. */
export type StopLoad = () => Promise<void>;

export interface FairnessCase<Load = unknown> {
  /** Name of the shared resource, in the report and for `--case RESOURCE,…`. */
  readonly resource: string;
  readonly roles: readonly ('api' | 'ingester' | 'calculator' | 'deliverer' | 'grpc')[];
  /** Settings that differ from the defaults. A limit that the case measures must keep its default. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Number of operations of account B per measurement; default: 40. */
  readonly operations?: number;
  /** Prepares both accounts; not measured. */
  prepare(service: FairnessService): Promise<FairnessRun<Load>>;
  /**
   * Starts account A's worst load, once per round, in a process of its own. Resolves when the load holds as much of the
   * resource as it can get.
   * @param answered callback that the load calls for each answer that A gets.
   */
  startLoad(load: Load, answered: () => void): Promise<StopLoad>;
}

/** Lets TypeScript infer the type of the load: `startLoad` takes the load that `prepare` returns. */
export function fairnessCase<Load>(given: FairnessCase<Load>): FairnessCase {
  return { ...given, startLoad: (load, answered) => given.startLoad(load as Load, answered) };
}
