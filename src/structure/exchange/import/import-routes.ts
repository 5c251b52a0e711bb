/**
 * `POST /structure/import`, and the routes that show the state, events and rows of an import. MANAGER and ADMIN may
 * import, just as they may create sites.
 */
import { type Context, Hono } from 'hono';
import { type CallerEnv, requireRole } from '../../../identity/authentication/authenticate.ts';
import type { Database, Queryable } from '../../../platform/database/database.ts';
import { storeContent, UPLOAD_SHARE } from '../../../platform/database/stored-parts.ts';
import { DomainError } from '../../../platform/errors.ts';
import { isJsonType } from '../../../platform/http/http-body.ts';
import { isTotalWanted, setTotalCount } from '../../../platform/http/listing-response.ts';
import { PAGING, toPaging } from '../../../platform/http/paging.ts';
import { declareQuery } from '../../../platform/http/query.ts';
import { choiceParameter, flagParameter } from '../../../platform/http/query-parameters.ts';
import type { RequestIdEnv } from '../../../platform/http/request-id.ts';
import { XLSX_TYPE } from '../../../platform/http/workbook-writer.ts';
import { showBytes } from '../../../platform/limits.ts';
import { type AccountPace, openAccountPace } from '../../../platform/shares/account-pace.ts';
import { type BudgetBound, openSharedBudget, type SharedBudget } from '../../../platform/shares/shared-budget.ts';
import { openBody } from '../../../platform/streaming/open-body.ts';
import { answerEvents } from '../../../platform/streaming/status-events.ts';
import {
  openStatusWatch,
  STATUS_INTERVAL_MS,
  type StatusWatchOptions,
} from '../../../platform/streaming/status-watch.ts';
import { answerListing, type ListingServices } from '../../../platform/streaming/stream-listing.ts';
import { LIST_NAMES } from '../document/kinds.ts';
import type { DocumentFormat } from '../reading/reading-messages.ts';
import { ACTIONS, countImportRows, listImportRows } from './import-rows.ts';
import {
  dropImport,
  findImportProblems,
  findImports,
  getImport,
  IMPORT_PARTS,
  type ImportStatus,
  insertImport,
  isOver,
  queueImport,
} from './import-store.ts';

const ZIP_START = 'PK\x03\x04';
/** First bytes of an OLE compound file: an Office document from before 2007, or a newer one with a password. */
const COMPOUND_START = '\xd0\xcf\x11\xe0';

export const IMPORT_QUERY = declareQuery({
  whatIf: flagParameter(
    'Writes nothing. The counts and rows of the import show what it would create, change and leave unchanged. Its `problems` show why it would be refused.',
  ),
});
export const ROWS_QUERY = declareQuery(
  {
    kind: choiceParameter(
      'Only rows from this list of the imported document. Default: rows from all lists.',
      LIST_NAMES,
    ),
    action: choiceParameter('Only rows with this action. Default: rows with all actions.', ACTIONS),
    ...PAGING,
  },
  { isListing: true },
);

type Env = CallerEnv & RequestIdEnv;

export interface ImportRouteServices extends ListingServices {
  readonly database: Database;
  readonly maxBytes: number;
  /** Maximum number of imports that an account may have in the states Queued and Processing together. */
  readonly maxWaiting: number;
  readonly following: Pick<StatusWatchOptions<ImportStatus>, 'maxPerUser' | 'maxFollowers'>;
  /** Maximum memory of the buffers of all documents being received, in bytes. */
  readonly maxMemoryBytes: number;
  /** Wakes the importer. @returns false when the wake-up is lost; the importer's sweeper then finds the import. */
  readonly wakeImporter: (accountId: number) => Promise<boolean>;
}

/** Routes below `/structure/import`. */
export function importRoutes(services: ImportRouteServices): Hono<Env> {
  const { database, log } = services;
  const watch = openStatusWatch<ImportStatus>({
    ...{ ...services.following, subjects: 'imports', instead: 'GET /structure/import/{id}', log },
    intervalMs: STATUS_INTERVAL_MS,
    find: (ids) => findImports(database, ids),
    isStopping: () => database.ending,
  });
  const shares = { memory: openSharedBudget(services.maxMemoryBytes), pace: openAccountPace({ share: UPLOAD_SHARE }) };
  const manager = requireRole('MANAGER');
  const readImport = (c: Context<Env>) => getImport(database, c.var.caller, c.req.param('id') ?? '');
  return new Hono<Env>()
    .post('/structure/import', manager, (c) => receiveImport(c, services, shares))
    .get('/structure/import/:id', manager, async (c) => {
      const status = await readImport(c);
      return c.json({ ...status, problems: await findImportProblems(database, status.id) });
    })
    .get('/structure/import/:id/events', manager, async (c) =>
      answerEvents(c, { watch, caller: c.var.caller, first: await readImport(c), isOver }),
    )
    .get('/structure/import/:id/rows', manager, async (c) => {
      const query = ROWS_QUERY.parse(c.req.url);
      return answerRows(c, services, await readImport(c), query);
    });
}

/** Stores the document, queues the import and answers 202; the importer processes the import later. */
async function receiveImport(
  c: Context<Env>,
  services: ImportRouteServices,
  { memory, pace }: { readonly memory: SharedBudget; readonly pace: AccountPace },
): Promise<Response> {
  const { database, maxBytes, maxWaiting, wakeImporter, log } = services;
  const { caller } = c.var;
  const { whatIf } = IMPORT_QUERY.parse(c.req.url);
  const format = formatOf(c.req.header('content-type'));
  const body = openBody(c.req.raw, maxBytes, `the document must be at most ${showBytes(maxBytes)}`);
  const id = await insertImport(database, c.var, { format, whatIf }, maxWaiting);
  const holding = memory.open(caller);
  const target = {
    ...{ table: IMPORT_PARTS, ownerId: id },
    charge: (bytes: number) => assertTaken(holding.take(bytes)),
    inTurn: (store: () => Promise<void>) => pace.run(caller.accountId, store),
    onStart: (start: Buffer) => assertStart(format, start),
  };
  try {
    const sizeBytes = await storeContent(database, target, body);
    if (sizeBytes === 0) throw new DomainError('invalid_input', 'the document must not be empty');
    await queueImport(database, { id, accountId: caller.accountId, sizeBytes }, maxWaiting);
  } catch (error) {
    // If this deletion fails too, the purge deletes the import later.
    await dropImport(database, id).catch(() => {});
    throw error;
  } finally {
    holding.release();
  }
  if (!(await wakeImporter(caller.accountId))) {
    const ids = { importId: id, accountId: caller.accountId, requestId: c.var.requestId };
    log.warn(ids, 'the wake-up of the importer was lost; the sweeper will process the import');
  }
  c.header('Location', `/structure/import/${id}`);
  return c.json(await getImport(database, caller, id), 202);
}

function assertTaken(bound: BudgetBound | undefined): void {
  if (!bound) return;
  const uploads = bound.of === 'total' ? 'all uploads of documents' : `the uploads of this ${bound.of}`;
  const rule = `too little memory is free for this document: ${uploads} use ${showBytes(bound.held)}`;
  throw new DomainError('queue_full', `${rule}; try again later`);
}

function formatOf(contentType: string | undefined): DocumentFormat {
  if (isJsonType(contentType)) return 'json';
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === XLSX_TYPE) return 'xlsx';
  const message = `Content-Type must be application/json, application/*+json or ${XLSX_TYPE}, got ${type || 'none'}`;
  throw new DomainError('unsupported_media_type', message);
}

function assertStart(format: DocumentFormat, start: Buffer): void {
  const mark = start.toString('latin1', 0, ZIP_START.length);
  if (format === 'json' || mark === ZIP_START) return;
  const message =
    mark === COMPOUND_START
      ? 'the workbook is encrypted or in the old format .xls; save it as .xlsx without a password'
      : 'the body must be an xlsx workbook, but it is not a zip archive';
  throw new DomainError('unsupported_media_type', message);
}

async function answerRows(
  c: Context<Env>,
  services: ImportRouteServices & { readonly database: Queryable },
  { id }: ImportStatus,
  query: ReturnType<typeof ROWS_QUERY.parse>,
): Promise<Response> {
  if (isTotalWanted(c)) setTotalCount(c, await countImportRows(services.database, id, query));
  return answerListing(c, services, c.var.caller.accountId, listImportRows(id, query), toPaging(query));
}
