/**
 * `node import-process.ts ACCOUNT …`, with DATABASE_URL: processes the oldest waiting import of each given account, all
 * at the same time. Tests kill this process, or limit its heap.
 */
import { openDeclarations } from '../../../../src/calculation/declaration/save-declaration.ts';
import { openDatabase } from '../../../../src/platform/database/database.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { openAccountPace } from '../../../../src/platform/shares/account-pace.ts';
import { processImport } from '../../../../src/structure/exchange/import/process-import.ts';

const { DATABASE_URL = '' } = process.env;
const log = createLog('error', 'import-process');
const database = openDatabase({ url: DATABASE_URL, poolSize: 6, applicationName: 'import-process', log });
const services = {
  ...{ database, declarations: openDeclarations(database), log },
  limits: { maxRows: 1_000_000, maxInflatedBytes: 2 ** 31, maxRatio: 100 },
  pace: openAccountPace({ share: 0.4 }),
  onWritten: async () => {},
};
const { signal } = new AbortController();
await Promise.all(process.argv.slice(2).map((account) => processImport(services, Number(account), signal)));
process.exit(0);
