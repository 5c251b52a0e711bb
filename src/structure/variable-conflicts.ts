/**
 * Checks values that must be unique within a source: no two variables may have the same `mappingConfig` (R-D2), and
 * only one may have `isDefault` = true. The database enforces this too (migrations 0039 and 0041). The check here runs
 * first and names the other variable.
 */
import type { Queryable } from '../platform/database/database.ts';
import { DomainError } from '../platform/errors.ts';

const UNIQUE_VIOLATION = '23505';
/** Constraint of the database → the member that it makes unique. */
const CONSTRAINTS: Readonly<Record<string, string>> = {
  variable_source_mapping_config: 'mappingConfig',
  variable_source_default: 'isDefault',
};

/** New values for members of a variable. A member that is undefined keeps its stored value. */
export interface WrittenVariable {
  /** Id of the variable; undefined for a new variable. */
  readonly id?: number;
  readonly sourceId?: unknown;
  readonly mappingConfig?: unknown;
  readonly isDefault?: unknown;
}

// Finds a variable of the same source that conflicts with the written variable. Older releases allowed several default
// variables, so a variable that was a default before the write does not conflict with another default.
const FIND_OTHER = `
  with written as (
    select coalesce($2::int, stored.source_id) as source_id,
           case when $3::boolean then $4::text else stored.mapping_config end as mapping_config,
           coalesce($5::boolean, stored.is_default, false)
             and not (coalesce(stored.is_default, false) and stored.source_id = coalesce($2::int, stored.source_id)) as is_default
    from (select) one left join variable stored on stored.id = $1::int
  )
  select other.id, other.name, other.source_id as "sourceId",
         case when other.mapping_config = written.mapping_config then written.mapping_config end as "mappingConfig"
  from written join variable other on other.source_id = written.source_id
    and (other.mapping_config = written.mapping_config or (written.is_default and other.is_default))
  where other.id is distinct from $1::int
  order by 4 nulls last limit 1`;

interface OtherVariable {
  readonly id: number;
  readonly name: string;
  readonly sourceId: number;
  /** The mappingConfig in conflict; null when the conflict is about isDefault. */
  readonly mappingConfig: string | null;
}

/**
 * Checks that no other variable of the source has the same mappingConfig as the written variable. When the written
 * variable becomes a default of the source, also checks that no other variable of the source is a default.
 * @throws {DomainError} conflict, naming the other variable.
 */
export async function assertUniqueInSource(queryable: Queryable, written: WrittenVariable): Promise<void> {
  const { id, sourceId, mappingConfig, isDefault } = written;
  if (sourceId === undefined && mappingConfig === undefined && isDefault === undefined) return;
  const { rows } = await queryable.query<OtherVariable>(FIND_OTHER, [
    ...[id ?? null, sourceId ?? null, mappingConfig !== undefined, mappingConfig ?? null],
    isDefault === null ? false : (isDefault ?? null),
  ]);
  const [other] = rows;
  if (!other) return;
  const path = other.mappingConfig === null ? '$.isDefault' : '$.mappingConfig';
  const message = describe(other);
  throw new DomainError('conflict', message, [{ path, message }]);
}

function describe({ id, name, sourceId, mappingConfig }: OtherVariable): string {
  const other = `variable ${id} (${JSON.stringify(name)}) of source ${sourceId}`;
  if (mappingConfig === null)
    return `isDefault can be true for only one variable of a source; it is already true for ${other}`;
  return `mappingConfig must be unique within a source; ${JSON.stringify(mappingConfig)} is used by ${other}`;
}

/**
 * Runs `work`, which calls `assertUniqueInSource`. When `work` fails because a concurrent write stored the same value,
 * runs `work` once more: the check now finds the variable of the concurrent write.
 * @throws {DomainError} conflict when `work` fails for this reason again.
 */
export async function repeatAfterConflict<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (conflictingMember(error) === undefined) throw error;
  }
  try {
    return await work();
  } catch (error) {
    const member = conflictingMember(error);
    if (member === undefined) throw error;
    throw new DomainError(
      'conflict',
      `${member} conflicts with a variable that another request has just written to the same source; send this request again`,
    );
  }
}

function conflictingMember(error: unknown): string | undefined {
  const { code, constraint = '' } = error as { readonly code?: string; readonly constraint?: string };
  return code === UNIQUE_VIOLATION ? CONSTRAINTS[constraint] : undefined;
}
