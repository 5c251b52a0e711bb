/**
 * Reads and writes the form definitions of an account. The values of a form are stored with sites, sources and
 * variables.
 */
import type { Queryable, Transaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import type { EntityType, Form, FormGroup } from './form-definition.ts';
import { FORM_LIMITS } from './form-definition.ts';

const COLUMNS = `id, name, entity_type as "entityType", groups, created_date as "createdDate", modified_date as "modifiedDate"`;
const UNIQUE_VIOLATION = '23505';

export interface FormFilter {
  readonly name?: string | undefined;
  readonly entityType?: EntityType | undefined;
}

/** Lists the forms of an account in id order. @param filter `name` is compared ignoring case. */
export async function listForms(
  queryable: Queryable,
  accountId: number,
  filter: FormFilter = {},
): Promise<readonly Form[]> {
  const { rows } = await queryable.query<Form>(
    `select ${COLUMNS} from form where account_id = $1 and ($2::text is null or entity_type = $2)
       and ($3::text is null or lower(name) = lower($3)) order by id`,
    [accountId, filter.entityType ?? null, filter.name ?? null],
  );
  return rows;
}

/**
 * @param isChanged whether the caller will change or delete the form; if so, the form stays locked until the end of the
 * transaction.
 * @throws {DomainError} not_found when the account has no form with this id.
 */
export async function getForm(queryable: Queryable, accountId: number, id: number, isChanged = false): Promise<Form> {
  const { rows } = await queryable.query<Form>(
    `select ${COLUMNS} from form where id = $1 and account_id = $2 ${isChanged ? 'for update' : ''}`,
    [id, accountId],
  );
  const [form] = rows;
  if (!form) throw new DomainError('not_found', `form ${id} does not exist`);
  return form;
}

export interface WrittenForm {
  readonly name: string;
  readonly entityType: EntityType;
  readonly groups: readonly FormGroup[];
}

/**
 * @throws {DomainError} conflict when the name is taken, or when the account already has the maximum number of forms
 * for `form.entityType`.
 */
export async function insertForm(transaction: Transaction, accountId: number, form: WrittenForm): Promise<Form> {
  const { name, entityType, groups } = form;
  await assertRoom(transaction, accountId, entityType);
  const inserted = await refuseTaken(form, () =>
    transaction.query<Form>(
      `insert into form (account_id, entity_type, name, groups) values ($1, $2, $3, $4) returning ${COLUMNS}`,
      [accountId, entityType, name, JSON.stringify(groups)],
    ),
  );
  return inserted.rows[0] as Form;
}

/**
 * @param stored the form before the change; the transaction must have locked the form.
 * @throws {DomainError} conflict in three cases:
 * - The name is taken.
 * - The account already has the maximum number of forms for the new `entityType`.
 * - `name` or `entityType` changes, but resources have values for the form.
 */
export async function updateForm(
  transaction: Transaction,
  accountId: number,
  stored: Form,
  form: WrittenForm,
): Promise<void> {
  const { name, entityType, groups } = form;
  if (entityType !== stored.entityType) await assertRoom(transaction, accountId, entityType);
  if (name !== stored.name || entityType !== stored.entityType) await assertEmpty(transaction, stored);
  await refuseTaken(form, () =>
    transaction.query(
      `update form set name = $2, entity_type = $3, groups = $4, modified_date = clock_timestamp() where id = $1`,
      [stored.id, name, entityType, JSON.stringify(groups)],
    ),
  );
}

/** @throws {DomainError} conflict when the account already has the maximum number of forms for `entityType`. */
async function assertRoom(transaction: Transaction, accountId: number, entityType: EntityType): Promise<void> {
  const { rows } = await transaction.query<{ count: number }>(
    'select count(*) as count from form where account_id = $1 and entity_type = $2',
    [accountId, entityType],
  );
  if ((rows[0]?.count ?? 0) < FORM_LIMITS.formsPerKind) return;
  throw new DomainError(
    'conflict',
    `an account may have at most ${FORM_LIMITS.formsPerKind} forms for ${PLURAL[entityType]}`,
  );
}

/**
 * Deletes the definition of a form; the values of the form stay in clientData.
 * @throws {DomainError} not_found when the account has no form with this id.
 */
export async function deleteForm(transaction: Transaction, accountId: number, id: number): Promise<Form> {
  const form = await getForm(transaction, accountId, id, true);
  await transaction.query('delete from form where id = $1 and account_id = $2', [id, accountId]);
  return form;
}

const PLURAL: Readonly<Record<EntityType, string>> = { Site: 'sites', Source: 'sources', Variable: 'variables' };
const TABLE: Readonly<Record<EntityType, string>> = { Site: 'site', Source: 'source', Variable: 'variable' };

/**
 * Requires that no resource has values for this form. clientData stores the values under the form's name, so a renamed
 * form would lose the values.
 */
async function assertEmpty(queryable: Queryable, { id, name, entityType }: Form): Promise<void> {
  const { rows } = await queryable.query<{ id: number }>(
    `select id from ${TABLE[entityType]} where account_id = (select account_id from form where id = $1) and client_data ? $2
     order by id limit 1`,
    [id, name],
  );
  if (!rows[0]) return;
  const key = `the key ${JSON.stringify(name)} in its clientData`;
  const rule = `name and entityType of the form cannot change, because ${entityType.toLowerCase()} ${rows[0].id} has ${key}`;
  throw new DomainError('conflict', `${rule}; remove this key from the clientData of all ${PLURAL[entityType]} first`);
}

async function refuseTaken<Result>({ name, entityType }: WrittenForm, write: () => Promise<Result>): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if ((error as { readonly code?: string }).code !== UNIQUE_VIOLATION) throw error;
    const message = `name must be unique among the forms for ${PLURAL[entityType]}, ignoring case; ${JSON.stringify(name)} is taken`;
    throw new DomainError('conflict', message, [{ path: '$.name', message }]);
  }
}
