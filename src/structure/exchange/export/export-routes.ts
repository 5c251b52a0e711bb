/**
 * `GET /structure/export` answers with a document of the resources that the caller may read. The document is streamed
 * from one snapshot.
 */
import { type Context, Hono } from 'hono';
import { accepts } from 'hono/accepts';
import type { CallerEnv } from '../../../identity/authentication/authenticate.ts';
import { streamInSnapshot, type Transaction } from '../../../platform/database/database.ts';
import { declareQuery } from '../../../platform/http/query.ts';
import { choiceParameter, idsParameter, named } from '../../../platform/http/query-parameters.ts';
import type { RequestIdEnv } from '../../../platform/http/request-id.ts';
import { XLSX_TYPE } from '../../../platform/http/workbook-writer.ts';
import { streamAnswer } from '../../../platform/streaming/stream-answer.ts';
import type { ListingServices } from '../../../platform/streaming/stream-listing.ts';
import { type RowServices, readRows } from './read-rows.ts';
import { encodeCells, encodeJson, writeJson, writeSheets } from './write-document.ts';

export const JSON_TYPE = 'application/json';
const TYPES = { json: JSON_TYPE, xlsx: XLSX_TYPE } as const;

export const EXPORT_QUERY = declareQuery(
  {
    format: choiceParameter('Format of the answer; takes precedence over the header `Accept`.', ['json', 'xlsx']),
    siteIds: named(idsParameter('Export these sites with their sources and variables. Default: all sites.'), 'siteId'),
  },
  { isListing: true },
);

export type ExportServices = ListingServices & RowServices;

/** Routes that export the structure. An export is limited to the resources that the caller may read (R-B9). */
export function exportRoutes(services: ExportServices): Hono<CallerEnv & RequestIdEnv> {
  return new Hono<CallerEnv & RequestIdEnv>().get('/structure/export', (c) => answerExport(c, services));
}

async function answerExport(c: Context<CallerEnv & RequestIdEnv>, services: ExportServices): Promise<Response> {
  const { format: given, siteIds } = EXPORT_QUERY.parse(c.req.url);
  const format = given ?? acceptedFormat(c);
  const { caller } = c.var;
  const source = services.reads.of(caller.accountId);
  const read = (transaction: Transaction) => readRows(services, transaction, caller, siteIds);
  // Encodes each batch as soon as it is read, because the limit on reading ahead counts encoded bytes.
  const write = (signal: AbortSignal) =>
    format === 'json'
      ? writeJson(streamInSnapshot(source, (transaction) => mapBatches(read(transaction), encodeJson), signal))
      : writeSheets(streamInSnapshot(source, (transaction) => mapBatches(read(transaction), encodeCells), signal));
  const headers = {
    'Content-Type': TYPES[format],
    'Content-Disposition': `attachment; filename="structure.${format}"`,
  };
  return streamAnswer(c, headers, write, services);
}

async function* mapBatches<Batch, Encoded>(
  batches: AsyncIterable<Batch>,
  encode: (batch: Batch) => Encoded,
): AsyncGenerator<Encoded> {
  for await (const batch of batches) yield encode(batch);
}

function acceptedFormat(c: Context): keyof typeof TYPES {
  c.header('Vary', 'Accept', { append: true });
  const type = accepts(c, { header: 'Accept', supports: [JSON_TYPE, XLSX_TYPE], default: JSON_TYPE });
  return type === XLSX_TYPE ? 'xlsx' : 'json';
}
