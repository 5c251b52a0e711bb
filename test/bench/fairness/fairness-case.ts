/**
 * One shared resource in the fairness bench: the worst load of account A and the concurrent operation of account B
 * (R-A14). To add a case: a file in this folder that exports a `FairnessCase`, and a line in `CASES` of
 * `fairness-bench.ts`.
 */
import type { Database } from '../../../src/platform/database/database.ts';
import type { ApiClient } from '../../support/fixtures/sign-in.ts';

/** An account of its own with one MANAGER, who may push. */
export interface FairnessAccount {
  readonly accountId: number;
  readonly userName: string;
  /** Signed in as the manager. */
  readonly api: ApiClient;
}

/** The processes under test and two fresh accounts. */
export interface FairnessService {
  readonly database: Database;
  /** Origin of the API. */
  readonly http: string;
  /** host:port of the gRPC role, when the case starts it. */
  readonly grpc: string;
  readonly pid: number;
  readonly accountA: FairnessAccount;
  readonly accountB: FairnessAccount;
}

export interface FairnessRun {
  /**
   * Starts account A's worst load, once per round. Resolves when the load holds as much of the resource as it can get.
   */
  startLoad(): Promise<StopLoad>;
  /** One operation of account B, until its result is there. Rejects when B is refused. */
  operation(): Promise<void>;
}

/** Ends the load. Resolves when it holds nothing of the resource any more. */
export type StopLoad = () => Promise<void>;

export interface FairnessCase {
  /** The shared resource, as the table names it; also chosen by `--case RESOURCE,…`. */
  readonly resource: string;
  readonly roles: readonly ('api' | 'ingester' | 'calculator' | 'deliverer' | 'grpc')[];
  /** Settings that differ from the defaults. Leave every limit that the case measures at its default. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Operations of B per measurement. Default: 40. */
  readonly operations?: number;
  /** Prepares both accounts; not measured. */
  prepare(service: FairnessService): Promise<FairnessRun>;
}
