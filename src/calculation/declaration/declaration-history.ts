/**
 * The history of a calculated variable: its saved declarations with author, instant and note (R-H12). To restore an old
 * declaration, a client saves it again; the history then shows this save too.
 */
import type { Caller } from '../../identity/caller/caller.ts';
import type { Queryable, Transaction } from '../../platform/database/database.ts';
import type { Listing } from '../../platform/streaming/stream-listing.ts';
import { DECLARATION_SCHEMA, type Declaration, hashDeclaration } from './declaration.ts';
import { presentDeclarations } from './present-declarations.ts';

/** One save of a declaration, as clients read it. */
export type DeclarationSave = {
  readonly id: number;
  /** Null for a declaration saved before the history was introduced; `userId` and `userName` are then null too. */
  readonly date: string | null;
  readonly userId: string | null;
  readonly userName: string | null;
  /** The ADMIN who saved the declaration while impersonating the author; null without impersonation. */
  readonly impersonator: { readonly userId: string; readonly userName: string } | null;
  readonly note: string | null;
  /**
   * Hash of the declaration. The record of each run of this declaration has the same hash, or null if the run ended too
   * early. This hash is null when `calculated` is null, or when no hash is stored and `calculated` no longer fits the
   * schema.
   */
  readonly declarationHash: string | null;
  /**
   * The saved declaration. Null when the save removed the declaration, so that the variable is no longer calculated.
   */
  readonly calculated: Readonly<Record<string, unknown>> | null;
};

interface LastSave {
  readonly hash: string | null;
  readonly calculated: unknown;
}

/**
 * Adds a saved declaration to the history. A save without a note is not added if its declaration equals the last one.
 * The row of the variable must be locked.
 * @param calculated the declaration that the variable stores; undefined when the variable is no longer calculated.
 */
export async function keepSave(
  transaction: Transaction,
  { accountId, userId, userName, actor }: Caller,
  variableId: number,
  {
    declaration,
    note,
    calculated,
  }: { declaration?: Declaration; note?: string | null | undefined; calculated?: unknown },
): Promise<void> {
  const { rows } = await transaction.query<LastSave>(
    `select declaration_hash as hash, case when declaration_hash is null then calculated end as calculated
     from declaration_save where variable_id = $1 order by id desc limit 1`,
    [variableId],
  );
  const hash = declaration === undefined ? null : hashDeclaration(declaration);
  if (!note && hash === (rows[0] ? hashOf(rows[0]) : null)) return;
  await transaction.query(
    `insert into declaration_save (account_id, variable_id, saved_date, user_id, user_name, actor_user_id, actor_user_name,
       note, declaration_hash, calculated)
     values ($1, $2, clock_timestamp(), $3, $4, $5, $6, $7, $8, $9)`,
    [
      ...[accountId, variableId, userId, userName, actor?.userId, actor?.userName, note || null, hash],
      calculated === undefined ? null : JSON.stringify(calculated),
    ],
  );
}

/**
 * @returns the stored hash of a save or, if no hash is stored, the hash of its declaration. Null when no hash is stored
 *   and the save has no declaration that fits the schema.
 */
function hashOf({ hash, calculated }: LastSave): string | null {
  if (hash !== null || calculated === null) return hash;
  const parsed = DECLARATION_SCHEMA.safeParse(calculated);
  return parsed.success ? hashDeclaration(parsed.data) : null;
}

/** Estimated number of bytes of a `DeclarationSave` as JSON, without the declaration itself. */
const SAVE_BYTES = 4000;

/** Lists the saves of a variable, newest first (R-H12). The caller must have checked that the variable may be read. */
export function listSaves(accountId: number, variableId: number): Listing<number, DeclarationSave> {
  return {
    keys: `select id as key, ${SAVE_BYTES} + coalesce(octet_length(calculated::text), 0) as bytes
      from declaration_save where variable_id = $1 and account_id = $2 order by id desc`,
    values: [variableId, accountId],
    read: async (queryable, ids) => {
      const { rows } = await queryable.query<DeclarationSave>(
        `select id, saved_date as date, user_id as "userId", user_name as "userName",
           case when actor_user_id is not null then
             json_build_object('userId', actor_user_id, 'userName', actor_user_name) end as impersonator,
           note, declaration_hash as "declarationHash", calculated
         from declaration_save where id = any($1::bigint[]) order by id desc`,
        [ids],
      );
      return presentSaves(queryable, accountId, rows);
    },
  };
}

/** @returns the number of saves of the variable (R-A7, R-H12). */
export async function countSaves(queryable: Queryable, accountId: number, variableId: number): Promise<number> {
  const { rows } = await queryable.query<{ count: number }>(
    'select count(*) as count from declaration_save where variable_id = $1 and account_id = $2',
    [variableId, accountId],
  );
  return rows[0]?.count ?? 0;
}

/** Shows declarations as `GET /variables/{id}` does, so that they can be saved again. */
async function presentSaves(
  queryable: Queryable,
  accountId: number,
  saves: readonly DeclarationSave[],
): Promise<readonly DeclarationSave[]> {
  const shown = await presentDeclarations(queryable, accountId, saves);
  return saves.map((save, index) => ({
    ...save,
    declarationHash: hashOf({ hash: save.declarationHash, calculated: save.calculated }),
    calculated: (shown[index]?.calculated ?? null) as DeclarationSave['calculated'],
  }));
}
