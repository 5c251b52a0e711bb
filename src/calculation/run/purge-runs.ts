/** Deletes runs that ended before the retention period (R-H8), in small batches. */
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';

const RUNS_PER_STATEMENT = 5000;
const MILLIS_PER_DAY = 86_400_000;

const PURGE = `
  delete from calculation_run where id in (
    select id from calculation_run where finished_date < $1 order by finished_date limit $2)`;

export async function purgeRuns(database: Database, clock: Clock, retentionDays: number): Promise<void> {
  const before = new Date(clock.nowMillis() - retentionDays * MILLIS_PER_DAY).toISOString();
  for (;;) {
    const { rowCount } = await database.query(PURGE, [before, RUNS_PER_STATEMENT]);
    if ((rowCount ?? 0) < RUNS_PER_STATEMENT) return;
  }
}
