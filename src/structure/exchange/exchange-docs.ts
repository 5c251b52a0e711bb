/** OpenAPI description of the routes for structure documents: export, import and template (R-A9). */
import { z } from 'zod';
import { XLSX_TYPE } from '../../platform/http/workbook-writer.ts';
import {
  ALL_USERS,
  answersJson,
  instantSchema,
  MANAGERS,
  type Operation,
  textId,
} from '../../platform/openapi/operation.ts';
import { ENTRY_SHAPE } from './document/entry-rows.ts';
import { FORM_ROW_SHAPE } from './document/form-rows.ts';
import { FORMAT, LIST_NAMES } from './document/kinds.ts';
import { rowShape } from './document/row-schema.ts';
import { EXPORT_QUERY } from './export/export-routes.ts';
import { IMPORT_QUERY, ROWS_QUERY } from './import/import-routes.ts';
import { ACTIONS, type ImportedRow } from './import/import-rows.ts';
import type { ImportStatus } from './import/import-store.ts';

const tag = 'Exchange';
const workbook = z.string().meta({ contentMediaType: XLSX_TYPE });
const DOWNLOAD = { 'Content-Disposition': 'File name of the download.' };

/**
 * Members of a structure document. The JSON schemas for answers and for requests differ, so their ids differ too.
 * @param suffix end of each schema id: '' for answers, 'Written' for requests.
 */
const documentOf = (suffix: '' | 'Written') => ({
  format: z.literal(FORMAT),
  catalogues: z.array(z.object(ENTRY_SHAPE).meta({ id: `CatalogueRow${suffix}` })),
  forms: z.array(z.object(FORM_ROW_SHAPE).meta({ id: `FormRow${suffix}` })),
  sites: z.array(z.object(rowShape('sites')).meta({ id: `SiteRow${suffix}` })),
  sources: z.array(z.object(rowShape('sources')).meta({ id: `SourceRow${suffix}` })),
  variables: z.array(z.object(rowShape('variables')).meta({ id: `VariableRow${suffix}` })),
});
const description =
  'Sites, sources and variables, identified by keys instead of ids. The key of a site is its `externalId`. The key of a source within its site is its `serialNumber`. The key of a variable within its source is its `mappingConfig`. A site, source or variable without a value for its key is identified by its name instead. `catalogues` defines units, unit families, types and features that the account added. `forms` defines forms of the account. An export with `siteIds` has only the entries and forms that these sites use.';
const structureDocument = z.object(documentOf('')).meta({ id: 'StructureDocument', description });

const count = z.int().min(0);
const counts = z.object({ created: count, changed: count, left: count }).meta({
  id: 'ImportCounts',
  description:
    'Number of rows by action; 0 until the import has ended. If the import wrote nothing, the number of rows by planned action.',
});
const importStatus = z.object({
  id: z.string(),
  format: z.enum(['json', 'xlsx']),
  whatIf: z.boolean(),
  state: z.enum(['Queued', 'Processing', 'Completed', 'Refused', 'Failed']).meta({
    description:
      'Poll until the state is neither `Queued` nor `Processing`. `Completed`: every row is written, or could be written if `whatIf` were false. `Refused`: the document has `problems`; nothing is written. `Failed`: the document could not be read to its end, or the import failed repeatedly; nothing is written.',
  }),
  progress: z.object({
    phase: z.enum(['Waiting', 'Reading', 'Comparing', 'Writing', 'Ended']),
    bytes: count,
    totalBytes: count,
    rows: count,
  }),
  counts: z.object({ catalogues: counts, forms: counts, sites: counts, sources: counts, variables: counts }),
  problemCount: count,
  failure: z.object({ code: z.string(), message: z.string() }).exactOptional(),
  ignoredMembers: z.array(z.string()).meta({
    description:
      'Unknown members and columns of rows, such as `sites.colour`; at most the first 100. Lists and sheets with unknown names are ignored too, but are not named here.',
  }),
  userName: z.string(),
  uploadedDate: instantSchema,
  startedDate: instantSchema.exactOptional(),
  completedDate: instantSchema.exactOptional(),
}) satisfies z.ZodType<ImportStatus>;
const begunStatus = importStatus.meta({ id: 'ImportStatus' });
const importProblem = z
  .object({
    path: z.string().meta({ examples: ['$.variables[3].granularity', 'variables!F5'] }),
    message: z.string(),
  })
  .meta({
    id: 'ImportProblem',
    description: 'A rule that the document breaks, and the place: a JSON path, or a sheet and a cell or row.',
  });
const shownStatus = z
  .object({
    ...importStatus.shape,
    problems: z.array(importProblem).meta({ description: 'At most the first 1,000 problems.' }),
  })
  .meta({ id: 'ImportResult' });
const importedRow = z
  .object({
    kind: z.enum(LIST_NAMES),
    place: z.string().meta({ description: 'Where the row is: JSON path, or sheet and row number.' }),
    action: z.enum(ACTIONS),
    id: z.int().nullable().meta({
      description:
        'Id of the resource; null for a row with the action `Created` until the import has created its resource.',
    }),
    changes: z
      .record(z.string(), z.object({ from: z.unknown(), to: z.unknown() }))
      .exactOptional()
      .meta({ description: 'The former and the new value of each changed member, by member name.' }),
  })
  .meta({ id: 'ImportedRow' }) satisfies z.ZodType<ImportedRow>;

const inPath = { id: textId('Import id.') };
const examples = [
  {
    sites: [{ name: 'Bakery', timeZoneId: 'Europe/Brussels' }],
    sources: [{ siteName: 'Bakery', serialNumber: 'OVEN-1', name: 'Oven' }],
    variables: [{ siteName: 'Bakery', sourceSerialNumber: 'OVEN-1', mappingConfig: 'kWh', name: 'Energy' }],
  },
];

export const EXCHANGE_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/structure/export', operationId: 'exportStructure', tag, access: ALL_USERS },
    summary: 'Export the structure as a document',
    description:
      'Streams the structure that the caller may read, from one snapshot. An export can be imported into another account. The import is refused, for example, if a formula reads a variable that neither the export nor the account has. A workbook has a sheet for each list. Rows that do not fit are on further sheets, such as `variables 2`.',
    query: EXPORT_QUERY,
    answers: [
      {
        status: 200,
        description: 'The document; JSON unless `format` or `Accept` asks for xlsx.',
        types: { 'application/json': structureDocument, [XLSX_TYPE]: workbook },
        headers: DOWNLOAD,
      },
    ],
  },
  {
    ...{ method: 'get', path: '/structure/template', operationId: 'getStructureTemplate', tag, access: ALL_USERS },
    summary: 'Download a workbook to fill in',
    description:
      'An empty workbook whose drop-down lists offer enumeration values, catalogue entries, time zones, and the sites and sources entered on its other sheets.',
    answers: [{ status: 200, description: 'The workbook.', types: { [XLSX_TYPE]: workbook }, headers: DOWNLOAD }],
  },
  {
    ...{ method: 'post', path: '/structure/import', operationId: 'importStructure', tag, access: MANAGERS },
    summary: 'Import a document',
    description:
      'Creates and changes catalogue entries, forms, sites, sources and variables in the background. Either all rows are imported or none. The key in a row identifies the resource. If a row omits a member, the resource keeps the value of the member; null or an empty cell clears the member. These cannot be cleared: keys, names of sites and sources, time zones of sites, and members of catalogue entries and forms. Importing the same document again changes nothing. An import never deletes an entry, form, site, source or variable.',
    query: IMPORT_QUERY,
    body: {
      types: {
        'application/json': z
          .object(documentOf('Written'))
          .partial()
          .meta({ id: 'StructureImport', description, examples }),
        [XLSX_TYPE]: workbook,
      },
      mayBeGzip: true,
    },
    answers: [
      answersJson('The import is queued; the path in `Location` shows its state.', begunStatus, {
        status: 202,
        headers: { Location: 'URL path at which the state of the import can be read.' },
      }),
    ],
    errors: ['queue_full'],
  },
  {
    ...{ method: 'get', path: '/structure/import/:id', operationId: 'getImport', tag, access: MANAGERS },
    summary: 'State, result and problems of an import',
    inPath,
    answers: [answersJson('Current state of the import.', shownStatus)],
  },
  {
    ...{ method: 'get', path: '/structure/import/:id/rows', operationId: 'listImportedRows', tag, access: MANAGERS },
    summary: 'List the rows of an import and the action for each row',
    inPath,
    query: ROWS_QUERY,
    isListing: true,
    answers: [
      answersJson(
        'Rows in the order of the lists: `catalogues`, `forms`, `sites`, `sources`, `variables`. Within a list, in the order of the document. Rows without an action are absent, for example rows with an invalid value.',
        z.array(importedRow),
      ),
    ],
  },
  {
    ...{ method: 'get', path: '/structure/import/:id/events', operationId: 'followImport', tag, access: MANAGERS },
    summary: 'Follow an import while it is processed',
    inPath,
    answers: [
      {
        status: 200,
        description:
          'Server-sent events: `progress` for the current state and after changes, then `end` for the final state. The data of each event is an ImportStatus.',
        types: { 'text/event-stream': z.string() },
      },
    ],
  },
];
