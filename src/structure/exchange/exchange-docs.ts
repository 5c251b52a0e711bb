/** OpenAPI description of export, import and template of a structure (R-A9). */
import { z } from 'zod';
import { XLSX_TYPE } from '../../platform/http/workbook-writer.ts';
import { ALL_USERS, type Operation } from '../../platform/openapi/operation.ts';
import { FORMAT } from './document/kinds.ts';
import { rowShape } from './document/row-schema.ts';
import { EXPORT_QUERY } from './export/export-routes.ts';

const tag = 'Exchange';
const workbook = z.string().meta({ contentMediaType: XLSX_TYPE });
const DOWNLOAD = { 'Content-Disposition': 'File name of the download.' };

const structureDocument = z
  .object({
    format: z.literal(FORMAT),
    sites: z.array(z.object(rowShape('sites')).meta({ id: 'SiteRow' })),
    sources: z.array(z.object(rowShape('sources')).meta({ id: 'SourceRow' })),
    variables: z.array(z.object(rowShape('variables')).meta({ id: 'VariableRow' })),
  })
  .meta({
    id: 'StructureDocument',
    description:
      'Sites, sources and variables without ids. A site is named by `externalId`, else by its name; a source within its site by `serialNumber`, else by its name; a variable within its source by `mappingConfig`, else by its name.',
  });

export const EXCHANGE_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/structure/export', operationId: 'exportStructure', tag, access: ALL_USERS },
    summary: 'Export the structure as a document',
    description:
      'Streams what the caller may read, from one snapshot. An export can be imported into any account; a workbook has one sheet for each list.',
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
];
