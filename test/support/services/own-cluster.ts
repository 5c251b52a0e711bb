/**
 * PostgreSQL clusters for tests of backups, in a temporary directory. The clusters are as durable as the cluster that
 * `npm start` runs.
 */
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProgress } from '../../../src/local/progress.ts';
import { ensureRoot } from '../../../src/local/roots/ensure-root.ts';
import { databaseRecipe } from '../../../src/local/roots/recipes.ts';
import { chooseLauncher, prepareState } from '../../../src/local/services/launcher.ts';
import { startPostgres, withDatabase } from '../../../src/local/services/postgres.ts';
import { clientPath } from '../../../src/local/services/postgres-client.ts';
import type { Service } from '../../../src/local/services/service.ts';

const DATABASE = 'tidemark';

export interface OwnCluster {
  /** URL of the database `postgres`. */
  readonly serverUrl: string;
  readonly databaseUrl: string;
  stop(): Promise<void>;
}

export interface OwnClusters {
  readonly directory: string;
  /** PATH with PostgreSQL's client programs. */
  readonly path: string;
  /**
   * Makes sure that the parent directory of a cluster exists and belongs to the user that runs PostgreSQL.
   * @returns the path of the cluster, whether or not the cluster exists.
   */
  locate(name: string): string;
  /** Starts the cluster called `name`; creates it when its directory is absent. */
  start(name: string): Promise<OwnCluster>;
  /** Stops every cluster and removes the directory. */
  clear(): Promise<void>;
}

/** Makes an empty directory for clusters. */
export async function makeOwnClusters(): Promise<OwnClusters> {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-clusters-'));
  const launcher = chooseLauncher(process.env);
  const root = await ensureRoot(databaseRecipe(), createProgress(process.stderr));
  const lock = openSync(join(directory, 'lock'), 'a');
  const started: Service[] = [];
  const stateOf = (name: string) => prepareState(launcher, root, join(directory, name));
  return {
    directory,
    path: clientPath(root, process.env.PATH),
    locate: (name) => join(stateOf(name).hostPath, 'cluster'),
    start: async (name) => {
      const [logFile, password] = [join(directory, `${name}.log`), 'secret'];
      const common = { launcher, root, lock, wantedPort: undefined, isDurable: true };
      const service = await startPostgres({ ...common, directory: join(directory, name), logFile, password });
      started.push(service);
      return { serverUrl: service.url, databaseUrl: withDatabase(service.url, DATABASE), stop: () => service.stop() };
    },
    clear: async () => {
      await Promise.all(started.map((service) => service.stop()));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
