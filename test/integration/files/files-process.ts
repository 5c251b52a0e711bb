/**
 * Ingests one file of an account in its own process, which a test can kill. Usage: `node files-process.ts ACCOUNT` with the
 * environment variable DATABASE_URL. The process sends its parent process a message after each committed chunk.
 */
import { createFileMetrics } from '../../../src/files/file-metrics.ts';
import { openFileParser } from '../../../src/files/parsing/file-parser.ts';
import { ingestFile } from '../../../src/files/processing/ingest-file.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { createLog } from '../../../src/platform/log.ts';
import { createMetrics } from '../../../src/platform/metrics/metrics.ts';
import { openAccountPace } from '../../../src/platform/shares/account-pace.ts';
import { openDictionary } from '../../../src/points/dictionary.ts';

const { DATABASE_URL = '' } = process.env;
const log = createLog('error', 'files-process');
const database = openDatabase({ url: DATABASE_URL, poolSize: 4, applicationName: 'files-process', log });
const services = {
  ...{ database, dictionary: openDictionary(database), parser: openFileParser(), log },
  pace: openAccountPace({ share: 0.5 }),
  limits: { maxRows: 10_000_000, maxInflatedBytes: 2 ** 31, maxRatio: 100 },
  metrics: createFileMetrics(createMetrics()),
  onWritten: async () => void process.send?.('written'),
};
await ingestFile(services, Number(process.argv[2]), new AbortController().signal);
process.exit(0);
