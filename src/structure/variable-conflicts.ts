/**
 * `mappingConfig` names one variable of its source (R-D2). A unique index guarantees it; the check here runs first, because it
 * names the other variable. A concurrent write that the check cannot see fails at the index, and the work is repeated.
 */
import type { Queryable } from '../platform/database/database.ts';
import { DomainError } from '../platform/errors.ts';

const UNIQUE_VIOLATION = '23505';
const INDEX = 'variable_source_mapping_config';

/** Variable to be written: members that are undefined keep the stored value. */
export interface WrittenVariable {
  /** Undefined: a new variable. */
  readonly id?: number;
  readonly sourceId?: unknown;
  readonly mappingConfig?: unknown;
}

const FIND_OTHER = `
  with written as (
    select coalesce($2::int, stored.source_id) as source_id,
           case when $3::boolean then $4::text else stored.mapping_config end as mapping_config
    from (select) one left join variable stored on stored.id = $1::int
  )
  select other.id, other.name, source_id as "sourceId", mapping_config as "mappingConfig"
  from written join variable other using (source_id, mapping_config)
  where other.id is distinct from $1::int limit 1`;

interface OtherVariable {
  readonly id: number;
  readonly name: string;
  readonly sourceId: number;
  readonly mappingConfig: string;
}

/**
 * Checks that no other variable of the source has the mappingConfig to be written.
 * @throws {DomainError} conflict, naming the other variable.
 */
export async function assertUniqueInSource(queryable: Queryable, written: WrittenVariable): Promise<void> {
  const { id, sourceId, mappingConfig } = written;
  if (sourceId === undefined && mappingConfig === undefined) return;
  const { rows } = await queryable.query<OtherVariable>(FIND_OTHER, [
    id ?? null,
    sourceId ?? null,
    mappingConfig !== undefined,
    mappingConfig ?? null,
  ]);
  const [other] = rows;
  if (!other) return;
  const rule = `mappingConfig must be unique within a source, ${JSON.stringify(other.mappingConfig)} is that of variable ${other.id}`;
  const message = `${rule} (${JSON.stringify(other.name)}) of source ${other.sourceId}`;
  throw new DomainError('conflict', message, [{ path: '$.mappingConfig', message }]);
}

/**
 * Runs `work`, which calls `assertUniqueInSource`, and once more when a concurrent write took the mappingConfig first: the
 * check then finds the other variable.
 * @throws {DomainError} conflict when a concurrent write is first again.
 */
export async function repeatAfterConflict<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isRepeatedMapping(error)) throw error;
  }
  try {
    return await work();
  } catch (error) {
    if (!isRepeatedMapping(error)) throw error;
    throw new DomainError(
      'conflict',
      'mappingConfig must be unique within a source; another request has just taken it',
    );
  }
}

function isRepeatedMapping(error: unknown): boolean {
  const { code, constraint } = error as { readonly code?: string; readonly constraint?: string };
  return code === UNIQUE_VIOLATION && constraint === INDEX;
}
