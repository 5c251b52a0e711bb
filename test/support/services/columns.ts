/**
 * Keeps the chunks of a test database compressed, so that the point tests also run on compressed chunks. A loop
 * compresses the chunks, with pauses of 100 ms, and a `PointStore` also compresses them after each of its writes. Needs
 * the Community edition of TimescaleDB.
 */
import { openDatabase, withConnection } from '../../../src/platform/database/database.ts';
import { createLog } from '../../../src/platform/log.ts';
import { compressChunk } from '../../../src/points/columns/compress-chunks.ts';

const PAUSE_MS = 100;

const CHUNKS_WITH_ROWS = 'select name from point_chunks() where not is_compressed or is_partial';

export interface ColumnsKeeper {
  /** Compresses every chunk that is not in use. */
  compress(): Promise<void>;
  stop(): Promise<void>;
}

/** Compresses the chunks of a database again and again until stopped. */
export async function keepInColumns(url: string): Promise<ColumnsKeeper> {
  const log = createLog('silent', 'test');
  const database = openDatabase({ url, poolSize: 1, applicationName: 'test-columns', log });
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let compressing = Promise.resolve();
  const compress = (): Promise<void> => {
    compressing = compressing
      .catch(() => {})
      .then(async () => {
        if (isStopped) return;
        const { rows } = await database.query<{ name: string }>(CHUNKS_WITH_ROWS);
        await withConnection(database, async (connection) => {
          for (const { name } of rows) if (!isStopped) await compressChunk(connection, name);
        });
      });
    return compressing;
  };
  const run = (): void => {
    timer = setTimeout(
      () =>
        void compress()
          .catch(() => {})
          .finally(run),
      PAUSE_MS,
    );
  };
  run();
  return {
    compress,
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await compressing.catch(() => {});
      await database.end();
    },
  };
}
