/**
 * A hypertable with the structure of `point`. Benchmarks compare the speed of the service's writes to `point` with the
 * speed of COPY into this hypertable.
 */
import type { Database } from '../../../src/platform/database/database.ts';

/** Drops and creates the table. */
export async function createTwin(database: Database, table: string): Promise<void> {
  await database.query(`drop table if exists ${table}`);
  await database.query(`create table ${table} (like point including defaults, primary key (variable_id, date))`);
  await database.query(
    `select create_hypertable('${table}', by_range('date', (
       select time_interval from timescaledb_information.dimensions where hypertable_name = 'point'
     )), create_default_indexes => false)`,
  );
}
