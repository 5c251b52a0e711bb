/** Stores and finds the mappers of an account (R-D9). */
import { z } from 'zod';
import type { Queryable } from '../../platform/database/database.ts';
import { isStorableText, STORABLE_RULE } from '../../platform/database/storable-text.ts';
import { DomainError } from '../../platform/errors.ts';
import { isGuid } from '../../platform/guid.ts';
import { booleanSchema, lenientObject } from '../../platform/http/lenient.ts';
import type { Listing } from '../../platform/streaming/stream-listing.ts';

export interface Mapper {
  /** Id in the path of `POST /api/generic/{guid}`. */
  readonly id: string;
  readonly name: string;
  /** Expression in JSONata. */
  readonly expression: string;
  /** Whether the first row of a CSV body contains the names of the columns. */
  readonly hasHeader: boolean;
  /** Whether the mapper accepts pushes; pushes to a disabled mapper get status 404. */
  readonly isEnabled: boolean;
  readonly createdDate: string;
  readonly modifiedDate: string;
}

const text = (max: number) => z.string().min(1).max(max).refine(isStorableText, STORABLE_RULE);

const expression = text(65_536);
const hasHeader = booleanSchema.default(true);

/** The fields that a client writes; read-only fields in the body are ignored. */
export const mapperSchema = lenientObject({
  name: text(200),
  expression,
  hasHeader,
  isEnabled: booleanSchema.default(true),
});
export type MapperFields = z.output<typeof mapperSchema>;

/** A mapper expression and a sample body for it. */
export const trialSchema = lenientObject({
  expression,
  hasHeader,
  contentType: text(200).default('application/json'),
  sample: z.string(),
});

const COLUMNS = `id, name, expression, has_header as "hasHeader", is_enabled as "isEnabled",
  created_date as "createdDate", modified_date as "modifiedDate"`;

/** @returns the mappers of the account, in the order of their names (R-D9). */
export function listMappers(accountId: number): Listing<string, Mapper> {
  return {
    keys: `select id as key, 1000 + octet_length(expression) as bytes from mapper where account_id = $1
      order by name, id`,
    values: [accountId],
    read: async (queryable, ids) => {
      const { rows } = await queryable.query<Mapper>(
        `select ${COLUMNS} from mapper where id = any($1::uuid[]) order by name, id`,
        [ids],
      );
      return rows;
    },
  };
}

/** @returns the number of mappers of the account (R-D9). */
export async function countMappers(queryable: Queryable, accountId: number): Promise<number> {
  const { rows } = await queryable.query<{ count: number }>('select count(*) from mapper where account_id = $1', [
    accountId,
  ]);
  return rows[0]?.count ?? 0;
}

/** Reads a mapper of the account (R-D9). @throws {DomainError} not_found when the account has no such mapper. */
export async function getMapper(queryable: Queryable, accountId: number, id: string): Promise<Mapper> {
  if (!isGuid(id)) throw notFound(id);
  const { rows } = await queryable.query<Mapper>(`select ${COLUMNS} from mapper where account_id = $1 and id = $2`, [
    accountId,
    id,
  ]);
  const [mapper] = rows;
  if (!mapper) throw notFound(id);
  return mapper;
}

/**
 * Creates a mapper; its id is the GUID that clients push to (R-D9).
 * @throws {Error} when the insert returns no row.
 */
export async function insertMapper(queryable: Queryable, accountId: number, fields: MapperFields): Promise<Mapper> {
  const { rows } = await queryable.query<Mapper>(
    `insert into mapper (account_id, name, expression, has_header, is_enabled) values ($1, $2, $3, $4, $5)
     returning ${COLUMNS}`,
    [accountId, fields.name, fields.expression, fields.hasHeader, fields.isEnabled],
  );
  const [mapper] = rows;
  if (!mapper) throw new Error('inserting a mapper returned no row');
  return mapper;
}

/**
 * Replaces the fields of a mapper (R-D9).
 * @throws {DomainError} not_found when the account has no such mapper.
 */
export async function updateMapper(
  queryable: Queryable,
  accountId: number,
  id: string,
  fields: MapperFields,
): Promise<void> {
  if (!isGuid(id)) throw notFound(id);
  const { rowCount } = await queryable.query(
    `update mapper set name = $3, expression = $4, has_header = $5, is_enabled = $6, modified_date = clock_timestamp()
     where account_id = $1 and id = $2`,
    [accountId, id, fields.name, fields.expression, fields.hasHeader, fields.isEnabled],
  );
  if (rowCount === 0) throw notFound(id);
}

/**
 * Deletes a mapper. Later pushes to its GUID get status 404 (R-D9).
 * @throws {DomainError} not_found when the account has no such mapper.
 */
export async function deleteMapper(queryable: Queryable, accountId: number, id: string): Promise<void> {
  const { rowCount } = await queryable.query('delete from mapper where account_id = $1 and id::text = $2', [
    accountId,
    isGuid(id) ? id.toLowerCase() : '',
  ]);
  if (rowCount === 0) throw notFound(id);
}

function notFound(id: string): DomainError {
  return new DomainError('not_found', `mapper ${id} does not exist`);
}
