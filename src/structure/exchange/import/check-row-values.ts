/** Checks the clientData of imported rows against the account's forms, as a write of a single resource does. */
import type { Transaction } from '../../../platform/database/database.ts';
import type { ErrorDetail } from '../../../platform/errors.ts';
import { WHOLE } from '../../../platform/http/paging.ts';
import { readBatches } from '../../../platform/streaming/stream-listing.ts';
import { findNewProblems } from '../../forms/check-values.ts';
import { listForms } from '../../forms/form-store.ts';
import { KIND_NAMES, KINDS, type KindName } from '../document/kinds.ts';
import type { ApplyRef } from './apply-context.ts';
import { MAX_PROBLEMS } from './stage-rows.ts';

interface ValueRow {
  readonly place: string;
  readonly written: unknown;
  /** The resource's clientData before the import; undefined when the row creates its resource. */
  readonly former: unknown;
}

/**
 * @returns at most 1,000 problems: the places where the planned clientData violates a form. Leaves out problems that
 *   the stored clientData already has.
 */
export async function checkRowValues(transaction: Transaction, applied: ApplyRef): Promise<readonly ErrorDetail[]> {
  const problems: ErrorDetail[] = [];
  for (const name of KIND_NAMES) {
    const forms = await listForms(transaction, applied.caller.accountId, { entityType: KINDS[name].resource.kind });
    if (forms.length === 0) continue;
    for await (const rows of readBatches<number, ValueRow>(
      transaction,
      listWritten(transaction, applied.id, name),
      WHOLE,
    )) {
      for (const { place, written, former } of rows) {
        problems.push(...findNewProblems(forms, written, former, applied.pathOf(place, 'clientData')));
      }
      if (problems.length >= MAX_PROBLEMS) return problems.slice(0, MAX_PROBLEMS);
    }
  }
  return problems;
}

/** Lists the import's rows that set the clientData of a resource of this kind. */
function listWritten(transaction: Transaction, id: string, kind: KindName) {
  const isWritten = `import_id = $1 and kind = $2
    and (action = 'Created' and members ? 'client_data' or changes ? 'client_data')`;
  return {
    keys: `select ordinal as key, octet_length((members -> 'client_data')::text) * 2 as bytes from structure_import_row
      where ${isWritten} order by ordinal`,
    values: [id, kind],
    read: async (_queryable: unknown, ordinals: readonly number[]) => {
      const { rows } = await transaction.query<ValueRow>(
        `select place, members -> 'client_data' as written, changes -> 'client_data' -> 'from' as former
         from structure_import_row where import_id = $1 and kind = $2 and ordinal = any($3::int[]) order by ordinal`,
        [id, kind, ordinals],
      );
      return rows.map((row) => ({ ...row, former: row.former ?? undefined }));
    },
  };
}
