/** Types that are used both to plan and to write an import. */
import type { Caller } from '../../../identity/caller/caller.ts';
import type { Declarations } from '../../structure-routes.ts';

export interface ApplyServices {
  readonly declarations: Pick<Declarations, 'present' | 'saveAll' | 'lockGraph' | 'findCycle'>;
  /**
   * Records the changed declarations of one batch of rows. Writes outside the transaction of the import, so the records
   * remain when this transaction is rolled back.
   */
  readonly onChanged: (changed: readonly ChangedDeclaration[]) => Promise<void>;
}

export interface ApplyRef {
  readonly id: string;
  readonly caller: Caller;
  /** @returns the path of `member` in the row at `place`. */
  readonly pathOf: (place: string, member: string) => string;
}

/**
 * A row that changes a declaration. `from` and `to` are the former and the new declaration, with business keys instead
 * of ids; null means that the variable is not calculated.
 */
export interface ChangedDeclaration {
  readonly ordinal: number;
  readonly from: unknown;
  readonly to: unknown;
}

/** An imported row that sets or clears the declaration of its variable. */
export interface DeclarationRow {
  readonly ordinal: number;
  readonly place: string;
  readonly action: 'Created' | 'Changed' | 'Left';
  readonly siteId: number;
  readonly sourceId: number;
  readonly targetId: number;
  readonly calculated: unknown;
}
