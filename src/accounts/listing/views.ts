/**
 * Views (§4.3). A view is a saved filter. A request that lists users can apply a view by its `ViewId`. Every member of
 * the account may create and use views. Only the owner of a view, a MANAGER or an ADMIN may change or delete it.
 */
import type { Caller } from '../../identity/caller/caller.ts';
import type { Queryable } from '../../platform/database/database.ts';
import { isStorableText } from '../../platform/database/storable-text.ts';
import { DomainError } from '../../platform/errors.ts';
import type { Listing } from '../../platform/streaming/stream-listing.ts';
import type { UserFilter } from './user-search.ts';

export interface View {
  readonly id: string;
  readonly name: string;
  readonly ownerUserId: string | null;
  readonly filter: UserFilter;
  readonly createdDate: string;
}

export interface WrittenView {
  readonly name: string;
  readonly filter: UserFilter;
}

const COLUMNS = 'id, name, owner_user_id as "ownerUserId", filter, created_date as "createdDate"';

/** Lists the views of the account, sorted by name (§4.3). */
export function listViews(accountId: number): Listing<string, View> {
  return {
    keys: `select id as key, 1000 + octet_length(filter::text) as bytes from user_view
      where account_id = $1 order by lower(name), id`,
    values: [accountId],
    read: async (queryable, ids) => {
      const { rows } = await queryable.query<View>(
        `select ${COLUMNS} from user_view where id = any($1::text[]) order by lower(name), id`,
        [ids],
      );
      return rows;
    },
  };
}

/** Counts the views of an account. */
export async function countViews(database: Queryable, accountId: number): Promise<number> {
  const { rows } = await database.query<{ count: number }>('select count(*) from user_view where account_id = $1', [
    accountId,
  ]);
  return rows[0]?.count ?? 0;
}

/**
 * Reads a view of the caller's account (§4.3).
 * @throws {DomainError} not_found when the view does not exist or belongs to another account.
 */
export async function getView(
  database: Queryable,
  { accountId }: Pick<Caller, 'accountId'>,
  id: string,
): Promise<View> {
  const { rows } = isStorableText(id)
    ? await database.query<View>(`select ${COLUMNS} from user_view where id = $1 and account_id = $2`, [id, accountId])
    : { rows: [] };
  const [view] = rows;
  if (!view) throw new DomainError('not_found', `view ${id} does not exist`);
  return view;
}

/** Creates a view owned by the caller (§4.3). */
export async function createView(database: Queryable, caller: Caller, { name, filter }: WrittenView): Promise<View> {
  const { rows } = await database.query<{ id: string }>(
    'insert into user_view (account_id, owner_user_id, name, filter) values ($1, $2, $3, $4) returning id',
    [caller.accountId, caller.userId, name, JSON.stringify(filter)],
  );
  return getView(database, caller, rows[0]?.id ?? '');
}

/**
 * Replaces the name and the filter of a view (§4.3).
 * @throws {DomainError} not_found; permission_denied for a USER who does not own the view
 */
export async function saveView(database: Queryable, caller: Caller, id: string, written: WrittenView): Promise<View> {
  assertMayChange(caller, await getView(database, caller, id));
  await database.query('update user_view set name = $2, filter = $3 where id = $1', [
    id,
    written.name,
    JSON.stringify(written.filter),
  ]);
  return getView(database, caller, id);
}

/**
 * @returns the deleted view (§4.3).
 * @throws {DomainError} not_found; permission_denied for a USER who does not own the view
 */
export async function deleteView(database: Queryable, caller: Caller, id: string): Promise<View> {
  const view = await getView(database, caller, id);
  assertMayChange(caller, view);
  await database.query('delete from user_view where id = $1', [id]);
  return view;
}

function assertMayChange(caller: Caller, { ownerUserId }: View): void {
  if (caller.role !== 'USER' || ownerUserId === caller.userId) return;
  throw new DomainError('permission_denied', 'only the owner, a MANAGER or an ADMIN may change or delete a view');
}
