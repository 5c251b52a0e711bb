/** `/account/mappers` (R-D9): managers maintain the mappers of their account and test them with sample bodies. */

import { Hono } from 'hono';
import type { WriteAuditEntry } from '../../identity/audit-writer.ts';
import { type CallerEnv, requireRole } from '../../identity/authentication/authenticate.ts';
import type { Caller } from '../../identity/caller/caller.ts';
import { type Database, withTransaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { readBytes, readJsonBody } from '../../platform/http/http-body.ts';
import { parseInput } from '../../platform/http/lenient.ts';
import { isTotalWanted, setTotalCount } from '../../platform/http/listing-response.ts';
import { WHOLE } from '../../platform/http/paging.ts';
import type { RequestIdEnv } from '../../platform/http/request-id.ts';
import { parseJsonText } from '../../platform/json/json-text.ts';
import { answerListing, type ListingServices } from '../../platform/streaming/stream-listing.ts';
import { parsePush } from '../body/parse-push.ts';
import type { PushLimits } from '../body/push-element.ts';
import { bodyFormat, formatOf } from './body-format.ts';
import {
  countMappers,
  deleteMapper,
  getMapper,
  insertMapper,
  listMappers,
  type MapperFields,
  mapperSchema,
  trialSchema,
  updateMapper,
} from './mappers.ts';
import type { MapperRunner } from './run-mapper.ts';

type Env = CallerEnv & RequestIdEnv;

type MapperAction = 'MapperCreated' | 'MapperUpdated' | 'MapperDeleted';

export interface MapperServices extends ListingServices {
  readonly database: Database;
  readonly runner: MapperRunner;
  readonly limits: PushLimits;
  readonly audit: WriteAuditEntry<MapperAction>;
}

const MAX_SAMPLE_BYTES = 1 << 20;
/** Maximum total size, in bytes of JSON, of the elements that a mapper returns for a sample. */
const MAX_TRIAL_BYTES = 4 << 20;

/** Routes below `/account/mappers` for managers: create, read, update, delete, test (R-D9). */
export function mapperRoutes(services: MapperServices): Hono<Env> {
  const { database, runner, limits, audit } = services;
  /**
   * @throws {DomainError} invalid_input; for an invalid expression, the message gives the position if it is known. Also
   *   queue_full, and the errors of `readJsonBody`.
   */
  const parseFields = async (request: Request, { accountId }: Caller): Promise<MapperFields> => {
    const fields = parseInput(mapperSchema, await readJsonBody(request));
    try {
      await runner.run({ accountId }, { expression: fields.expression, maxBytes: 0 });
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'mapping_failed') throw error;
      throw new DomainError('invalid_input', error.message, [{ path: '$.expression', message: error.message }]);
    }
    return fields;
  };
  return new Hono<Env>()
    .use('/mappers/*', requireRole('MANAGER'))
    .use('/mappers', requireRole('MANAGER'))
    .get('/mappers', async (c) => {
      const { accountId } = c.var.caller;
      if (isTotalWanted(c)) setTotalCount(c, await countMappers(database, accountId));
      return answerListing(c, services, accountId, listMappers(accountId), WHOLE);
    })
    .post('/mappers', async (c) => {
      const fields = await parseFields(c.req.raw, c.var.caller);
      const mapper = await withTransaction(database, async (transaction) => {
        const made = await insertMapper(transaction, c.var.caller.accountId, fields);
        await audit(transaction, c.var, { action: 'MapperCreated', targetId: made.id, targetName: made.name });
        return made;
      });
      return c.json(mapper);
    })
    .get('/mappers/:id', async (c) => c.json(await getMapper(database, c.var.caller.accountId, c.req.param('id'))))
    .put('/mappers/:id', async (c) => {
      const [targetId, fields] = [c.req.param('id'), await parseFields(c.req.raw, c.var.caller)];
      await withTransaction(database, async (transaction) => {
        await updateMapper(transaction, c.var.caller.accountId, targetId, fields);
        await audit(transaction, c.var, { action: 'MapperUpdated', targetId, targetName: fields.name });
      });
      return c.body(null, 204);
    })
    .delete('/mappers/:id', async (c) => {
      const { accountId } = c.var.caller;
      await withTransaction(database, async (transaction) => {
        const { id: targetId, name: targetName } = await getMapper(transaction, accountId, c.req.param('id'));
        await deleteMapper(transaction, accountId, targetId);
        await audit(transaction, c.var, { action: 'MapperDeleted', targetId, targetName });
      });
      return c.body(null, 204);
    })
    .post('/mappers/test', async (c) => {
      const { expression, hasHeader, contentType, sample } = parseInput(trialSchema, await readJsonBody(c.req.raw));
      const body = { format: formatOf(contentType, '$.contentType'), hasHeader, bytes: Buffer.from(sample) };
      return c.json(await trySample(runner, limits, { expression, accountId: c.var.caller.accountId }, body));
    })
    .post('/mappers/:id/test', async (c) => {
      const { accountId } = c.var.caller;
      const mapper = await getMapper(database, accountId, c.req.param('id'));
      const format = bodyFormat(c.req.raw);
      const bytes = await readBytes(c.req.raw, MAX_SAMPLE_BYTES);
      return c.json(
        await trySample(runner, limits, { ...mapper, accountId }, { format, hasHeader: mapper.hasHeader, bytes }),
      );
    });
}

/** Codes of the mapper errors that a trial reports with status 200. */
const TRIAL_FAILURES: ReadonlySet<string> = new Set(['mapping_failed', 'body_too_large']);

type Sample = NonNullable<Parameters<MapperRunner['run']>[1]['body']>;

/** Runs a mapper on a sample and validates the result as a push. Stores nothing. */
async function trySample(
  runner: MapperRunner,
  limits: PushLimits,
  { accountId, expression }: Pick<MapperFields, 'expression'> & { readonly accountId: number },
  body: Sample,
): Promise<object> {
  try {
    const reply = await runner.run({ accountId }, { expression, body, maxBytes: MAX_TRIAL_BYTES });
    const elements: unknown = parseJsonText(reply.kind === 'mapped' ? Buffer.from(reply.json).toString('utf8') : '[]');
    const parsed = parsePush(elements, limits);
    if (parsed.kind === 'ok') return { elements };
    return {
      elements,
      problems: parsed.kind === 'invalid' ? parsed.details : [{ path: '$', message: parsed.message }],
    };
  } catch (error) {
    if (!(error instanceof DomainError) || !TRIAL_FAILURES.has(error.code)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}
