/**
 * Processes one import: stages its rows, compares them with the structure of the account, and writes either all rows,
 * in one transaction, or none. Uses one database session, which holds the lease of the account, so that only one
 * process at a time works on imports of the account. An import that a killed process left unfinished starts again.
 */
import type { Connection, Database, Transaction } from '../../../platform/database/database.ts';
import { inTransaction, withConnection } from '../../../platform/database/database.ts';
import { isReferenceViolation, isTransientError } from '../../../platform/database/dependency-error.ts';
import { withLease } from '../../../platform/database/session-lease.ts';
import { PART_BYTES, readPart } from '../../../platform/database/stored-parts.ts';
import type { ErrorDetail } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import type { AccountPace } from '../../../platform/shares/account-pace.ts';
import type { Declarations } from '../../structure-routes.ts';
import { cellPath } from '../document/cells.ts';
import { ReaderDeath, readDocument } from '../reading/document-reader.ts';
import { type DocumentLimits, DocumentRefusal } from '../reading/document-refusal.ts';
import type { DocumentNote } from '../reading/reading-messages.ts';
import type { ApplyRef, ChangedDeclaration } from './apply-context.ts';
import { applyImport, StalePlan } from './apply-import.ts';
import { planForms } from './definitions/import-forms.ts';
import { planEntries } from './definitions/plan-entries.ts';
import { resolveEntries } from './definitions/resolve-entries.ts';
import {
  countImportFailures,
  endImport,
  IMPORT_PARTS,
  noteProgress,
  type TakenImport,
  takeImport,
} from './import-store.ts';
import { planImport } from './plan-import.ts';
import { clearRows, stageBatch, storeProblems } from './stage-rows.ts';

export interface ProcessServices {
  readonly database: Database;
  readonly declarations: Declarations;
  readonly limits: DocumentLimits;
  /** Limits the rate at which an account stages rows while other accounts are active (R-A14). */
  readonly pace: AccountPace;
  /** Relays the events of an import after the import was committed. The promise must not reject. */
  readonly onWritten: () => Promise<void>;
  readonly log: Log;
}

/** First key of the advisory locks that let one process at a time work on the imports of an account. */
const IMPORT_LOCK_CLASS = 0x7369;
/** The statement timeout is long, because one statement of an import may compare or write a million rows. */
const TRANSACTION = { statementTimeoutMs: 1_800_000 } as const;
const UNIQUE_VIOLATION = '23505';
const MAX_FAILURES = 5;
/** Minimum number of staged rows for ANALYZE. For fewer rows, ANALYZE takes more time than its statistics save. */
const ANALYZED_ROWS = 1000;
const DEATH_FAILURES = 3;

/**
 * Processes the oldest waiting import of an account.
 * @param onTaken function that receives the id of this import before the processing begins.
 * @returns false when no import waits, or another process works on an import of the account.
 */
export async function processImport(
  services: ProcessServices,
  accountId: number,
  signal: AbortSignal,
  onTaken: (importId: string) => void = () => {},
): Promise<boolean> {
  const worked = await withConnection(services.database, (connection) =>
    withLease(connection, IMPORT_LOCK_CLASS, accountId, async () => {
      const taken = await takeImport(connection, accountId);
      if (!taken) return false;
      onTaken(taken.id);
      await cancelling(services.database, connection, signal, () => processTaken(services, connection, taken, signal));
      return true;
    }),
  );
  return worked ?? false;
}

/**
 * Runs `work`. If `signal` aborts, cancels the current statement of `connection`, so the transaction of the import ends
 * immediately.
 */
async function cancelling(
  database: Database,
  connection: Connection,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  const { rows } = await connection.query<{ pid: number }>('select pg_backend_pid() as pid');
  const cancel = (): void => void database.query('select pg_cancel_backend($1)', [rows[0]?.pid]).catch(() => {});
  signal.addEventListener('abort', cancel, { once: true });
  await work().finally(() => signal.removeEventListener('abort', cancel));
}

async function processTaken(
  services: ProcessServices,
  connection: Connection,
  taken: TakenImport,
  signal: AbortSignal,
): Promise<void> {
  const { database, log } = services;
  const { id, accountId, requestId } = taken;
  const startMs = performance.now();
  try {
    const note = await stageRows(services, connection, taken, signal);
    await finish(services, connection, taken, note);
  } catch (error) {
    const { code, message } = await toRefusal(services, connection, taken, error, signal);
    await endImport(connection, id, 'Failed', { code, message });
  }
  await database.query('delete from structure_import_part where import_id = $1', [id]);
  const durationMs = Math.round(performance.now() - startMs);
  log.info({ requestId, accountId, importId: id, durationMs }, 'structure import processed');
}

/** Reads the document and stages its rows. @returns the report that `readDocument` yields after the last row. */
async function stageRows(
  { database, limits, pace }: ProcessServices,
  connection: Connection,
  { id, accountId, format, sizeBytes }: TakenImport,
  signal: AbortSignal,
): Promise<DocumentNote> {
  await clearRows(connection, id);
  const order = { format, sizeBytes, partBytes: PART_BYTES, limits };
  const ordinals = { catalogues: 0, forms: 0, sites: 0, sources: 0, variables: 0 };
  for await (const read of readDocument(order, (index) => readPart(database, IMPORT_PARTS, id, index), signal)) {
    if ('counts' in read) return read;
    await pace.run(accountId, () => stageBatch(connection, id, read, ordinals));
    await noteProgress(database, id, { phase: 'Reading', bytes: read.bytes, rows: read.rowCount });
  }
  throw new Error('the reader of the document ended without reporting its row counts');
}

/** Plans the changes that the staged rows require, writes them unless there are problems, and ends the import. */
async function finish(
  services: ProcessServices,
  connection: Connection,
  taken: TakenImport,
  note: DocumentNote,
): Promise<void> {
  const { database } = services;
  const { id, whatIf } = taken;
  await connection.query('update structure_import set ignored_members = $2, columns = $3 where id = $1', [
    id,
    note.ignored,
    JSON.stringify(note.columns),
  ]);
  await noteProgress(database, id, { phase: 'Comparing' });
  const rowCount = Object.values(note.counts).reduce((sum, count) => sum + count, 0);
  // ANALYZE runs before the transaction of the plan. Within that transaction, ANALYZE would keep its table lock until
  // the plan is complete, and the ANALYZE of other accounts' imports would wait for the lock.
  if (rowCount >= ANALYZED_ROWS) await connection.query('analyze structure_import_row');
  const pathOf = pathsOf(note);
  const plan = async (transaction: Transaction): Promise<number> =>
    (await planEntries(transaction, taken, pathOf)) ||
    (await planForms(transaction, taken, pathOf)) +
      (await resolveEntries(transaction, taken, pathOf)) +
      (await planImport(transaction, taken));
  const planned = await inTransaction(connection, plan, TRANSACTION);
  const { rows } = await connection.query('select from structure_import_problem where import_id = $1 limit 1', [id]);
  if (planned > 0 || rows.length > 0) {
    await endImport(connection, id, 'Refused');
    return;
  }
  await noteProgress(database, id, { phase: 'Writing' });
  const problems = await write(services, connection, taken, pathOf);
  if (problems.length > 0) {
    await storeProblems(connection, id, problems);
    await endImport(connection, id, 'Refused');
  } else if (whatIf) await endImport(connection, id, 'Completed');
  else await services.onWritten();
}

class RolledBack extends Error {}

/**
 * Writes the plan and ends the import in one transaction. Rolls the transaction back when there are problems or
 * `whatIf` is true. @returns the problems.
 */
async function write(
  { database, declarations }: ProcessServices,
  connection: Connection,
  { id, caller, whatIf }: TakenImport,
  pathOf: ApplyRef['pathOf'],
): Promise<readonly ErrorDetail[]> {
  let problems: readonly ErrorDetail[] = [];
  const onChanged = (changed: readonly ChangedDeclaration[]) => noteChanged(database, id, changed);
  const work = async (transaction: Transaction): Promise<void> => {
    problems = await applyImport({ declarations, onChanged }, transaction, { id, caller, pathOf });
    if (whatIf || problems.length > 0) throw new RolledBack();
    if (!(await endImport(transaction, id, 'Completed')))
      throw new StalePlan('the import is no longer in the state Processing');
  };
  await inTransaction(connection, work, TRANSACTION).catch((error: unknown) => {
    if (!(error instanceof RolledBack)) throw error;
  });
  return problems;
}

async function noteChanged(database: Database, id: string, changed: readonly ChangedDeclaration[]): Promise<void> {
  if (changed.length === 0) return;
  await database.query(
    `update structure_import_row r set action = 'Changed',
            changes = coalesce(changes, '{}') || jsonb_build_object('calculated', jsonb_build_object('from', given.from_declaration, 'to', given.to_declaration))
     from unnest($2::int[], $3::jsonb[], $4::jsonb[]) given (ordinal, from_declaration, to_declaration)
     where r.import_id = $1 and r.kind = 'variables' and r.ordinal = given.ordinal`,
    [
      id,
      changed.map(({ ordinal }) => ordinal),
      changed.map(({ from }) => JSON.stringify(from)),
      changed.map(({ to }) => JSON.stringify(to)),
    ],
  );
}

/**
 * @returns a function that names a member of a row: by its JSON path in a JSON document, by `cellPath` in a workbook.
 */
function pathsOf({ columns }: DocumentNote): ApplyRef['pathOf'] {
  return (place, member) => {
    const [, sheet, row] = /^([^$].*)!(\d+)$/.exec(place) ?? [];
    if (sheet === undefined || row === undefined) return `${place}.${member}`;
    return cellPath(sheet, row, member, columns[sheet]);
  };
}

/** @returns why the import ends as Failed. @throws `error` when the import will be retried. */
async function toRefusal(
  { log }: ProcessServices,
  connection: Connection,
  { id, accountId }: TakenImport,
  error: unknown,
  signal: AbortSignal,
): Promise<DocumentRefusal> {
  if (error instanceof DocumentRefusal) return error;
  const isDeath = error instanceof ReaderDeath;
  const isOurs = signal.aborted || isTransientError(error) || (isDeath && !error.isByDocument) || isConcurrent(error);
  if (isOurs) throw error;
  const failures = await countImportFailures(connection, id, isDeath ? DEATH_FAILURES : 1);
  if (failures < MAX_FAILURES) throw error;
  log.warn(
    { err: error, accountId, importId: id },
    'a structure import failed repeatedly, so its state is now Failed; none of its rows were written',
  );
  if (isDeath) {
    const fault = 'the process that reads the document crashed repeatedly, perhaps for lack of memory';
    return new DocumentRefusal('too_large', `${fault}; split the document into smaller documents`);
  }
  const message = 'the import failed repeatedly because of an internal error; try again or contact support';
  return new DocumentRefusal('internal_error', message);
}

/**
 * @returns true when the error shows that a concurrent request changed the structure after the import was planned, or
 * that a concurrent request holds the lock of the calculation graph.
 */
function isConcurrent(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const isBusy = code === 'dependency_unavailable';
  return error instanceof StalePlan || isReferenceViolation(error) || code === UNIQUE_VIOLATION || isBusy;
}
