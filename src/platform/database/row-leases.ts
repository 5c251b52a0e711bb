/**
 * Short leases on rows, which a process renews while it works on the rows. A process that crashes or is suspended loses
 * its rows within LEASE_MS. The instant at which a lease ends is also the fencing token: a process writes a result only
 * if the row still contains this instant.
 */
import type { Log } from '../log.ts';
import type { Database, Queryable } from './database.ts';

/** Duration of a lease from the claim or the last renewal. */
export const LEASE_MS = 6000;
export const RENEWAL_MS = 2000;

export interface LeasedRow {
  readonly id: number | string;
  /** End of the lease in ISO 8601 to the microsecond. Each renewal changes the end. */
  claimedUntil: string;
}

/** The parts in which the SQL statements of tables with leases differ. They are constants, so they need no escaping. */
export interface LeasedTable {
  readonly table: 'mail' | 'webhook_attempt' | 'webhook_test';
  readonly idType: 'int8' | 'uuid';
  /** Column that holds the end of the lease. */
  readonly column: 'claimed_until' | 'not_before_date';
  /** Value of the column `state` while the work on the row is not done. */
  readonly state: 'Pending' | 'Waiting';
}

export interface RowLeases<Row extends LeasedRow> {
  /**
   * Starts renewing the leases of these rows.
   * @param claimedMs value of performance.now() just before the rows were claimed.
   */
  keep(rows: readonly Row[], claimedMs: number): void;
  /**
   * Returns true until the lease ends or is dropped. Until then, no other process can own the row; afterwards, no work
   * may begin.
   */
  isHeld(row: Row): boolean;
  /**
   * Stops renewing the leases of these rows. Afterwards `claimedUntil` is final and serves as the fencing token of a
   * write.
   */
  drop(rows: readonly Row[]): Promise<void>;
  stop(): void;
}

/**
 * Starts a timer that renews the leases of the rows given to `keep`. When the lease of a row ends, another process may
 * claim the row.
 */
export function openRowLeases<Row extends LeasedRow>(database: Database, table: LeasedTable, log: Log): RowLeases<Row> {
  const heldUntilMs = new Map<Row, number>();
  let renewal: Promise<void> | undefined;
  const renew = async (): Promise<void> => {
    const rows = [...heldUntilMs.keys()];
    const beganMs = performance.now();
    try {
      const renewed = await renewLeases(database, table, rows, LEASE_MS);
      for (const row of renewed) if (heldUntilMs.has(row)) heldUntilMs.set(row, beganMs + LEASE_MS);
    } catch (error) {
      log.warn(
        { err: error, table: table.table, rows: rows.length },
        'leases could not be renewed; unless a later renewal succeeds, they end and other processes claim the rows',
      );
    }
  };
  const timer = setInterval(() => {
    if (heldUntilMs.size === 0) return;
    renewal ??= renew().finally(() => {
      renewal = undefined;
    });
  }, RENEWAL_MS);
  return {
    keep: (rows, claimedMs) => {
      for (const row of rows) heldUntilMs.set(row, claimedMs + LEASE_MS);
    },
    isHeld: (row) => performance.now() < (heldUntilMs.get(row) ?? 0),
    drop: async (rows) => {
      for (const row of rows) heldUntilMs.delete(row);
      // A renewal in progress may still change `claimedUntil` of these rows.
      await renewal;
    },
    stop: () => clearInterval(timer),
  };
}

/**
 * Renews leases for `leaseMs` from now and sets `claimedUntil` of the renewed rows. Skips a row whose lease was lost,
 * or that another transaction has locked.
 * @returns the rows whose lease was renewed.
 */
export async function renewLeases<Row extends LeasedRow>(
  queryable: Queryable,
  { table, idType, column, state }: LeasedTable,
  rows: readonly Row[],
  leaseMs: number,
): Promise<readonly Row[]> {
  const { rows: renewed } = await queryable.query<LeasedRow>({
    name: `renewal-${table}`,
    // Skips rows that another transaction has locked, because waiting for them could deadlock; the
    // next renewal includes them.
    text: `
      with mine as materialized (
        select leased.id from ${table} leased
        join unnest($1::${idType}[], $2::timestamptz[]) given (id, until)
          on given.id = leased.id and given.until = leased.${column}
        where state = '${state}' for update of leased skip locked
      )
      update ${table} set ${column} = clock_timestamp() + $3 * interval '1 millisecond'
      from mine where ${table}.id = mine.id
      returning ${table}.id, ${column} as "claimedUntil"`,
    values: [rows.map(({ id }) => id), rows.map((row) => row.claimedUntil), leaseMs],
  });
  const tokens = new Map(renewed.map(({ id, claimedUntil }) => [id, claimedUntil]));
  return rows.filter((row) => {
    const token = tokens.get(row.id);
    if (token !== undefined) row.claimedUntil = token;
    return token !== undefined;
  });
}
