/**
 * Fires schedules (R-H5). The next instant of a schedule is stored in the database and advances in the transaction that
 * requests the run, so no instant is lost or fired twice. After a time without calculators, a schedule fires once for
 * all missed instants together.
 */
import type { Clock } from '../../platform/clock.ts';
import { type Database, type Transaction, withTransaction } from '../../platform/database/database.ts';
import { type FormulaDeclaration, hasScript } from '../declaration/declaration.ts';
import { requestScheduled } from './request-calculations.ts';
import { type DueSchedule, lastInstant, nextInstant } from './schedule.ts';

const SCHEDULES_PER_LOOK = 500;

// An unchanged schedule keeps its next instant. So no run is skipped when a user saves the same declaration again.
const SAVE = `
  insert into calculation_schedule (variable_id, formula, cron, time_zone_id, valid_from, valid_until)
  select $1, given.* from unnest($2::int[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[]) given
  on conflict (variable_id, formula) do update
  set cron = excluded.cron, time_zone_id = excluded.time_zone_id, valid_from = excluded.valid_from,
      valid_until = excluded.valid_until, after_date = excluded.after_date, next_date = null
  where (calculation_schedule.cron, calculation_schedule.time_zone_id, calculation_schedule.valid_from,
         calculation_schedule.valid_until)
    is distinct from (excluded.cron, excluded.time_zone_id, excluded.valid_from, excluded.valid_until)`;

const LOOK = `
  select schedule.variable_id as "variableId", formula, cron,
         coalesce(schedule.time_zone_id, source.time_zone_id, site.time_zone_id) as "timeZoneId",
         nullif(valid_from, '-infinity') as "validFrom", nullif(valid_until, 'infinity') as "validUntil",
         after_date as "afterDate", next_date as "nextDate"
  from calculation_schedule schedule join variable on variable.id = schedule.variable_id
  join source on source.id = variable.source_id join site on site.id = source.site_id
  where next_date is null or next_date <= $1
  order by schedule.variable_id, formula limit $2 for update of schedule skip locked`;

const MOVE_ON = `
  update calculation_schedule schedule set after_date = moved.after_date, next_date = moved.next_date
  from unnest($1::int[], $2::int[], $3::timestamptz[], $4::timestamptz[]) moved (variable_id, formula, after_date, next_date)
  where schedule.variable_id = moved.variable_id and schedule.formula = moved.formula`;

interface Row {
  readonly variableId: number;
  readonly formula: number;
  readonly cron: string;
  readonly timeZoneId: string;
  readonly validFrom: string | null;
  readonly validUntil: string | null;
  readonly afterDate: string;
  readonly nextDate: string | null;
}

interface Step {
  readonly row: Row;
  readonly due: DueSchedule | undefined;
  readonly afterMillis: number;
  /** Next instant of the schedule, in epoch milliseconds; Infinity when there is none. */
  readonly nextMillis: number;
}

/** Replaces a variable's schedules with those that its formulas declare; skips formulas without a script (R-H5). */
export async function replaceSchedules(
  transaction: Transaction,
  variableId: number,
  formulas: readonly FormulaDeclaration[],
): Promise<void> {
  const wanted = [...formulas.entries()].flatMap(([formula, declared]) => {
    const { schedule, validFrom, validUntil } = declared;
    return schedule && hasScript(declared) ? [{ formula, ...schedule, validFrom, validUntil }] : [];
  });
  const formulaIndexes = wanted.map(({ formula }) => formula);
  await transaction.query('delete from calculation_schedule where variable_id = $1 and formula <> all($2::int[])', [
    variableId,
    formulaIndexes,
  ]);
  if (wanted.length === 0) return;
  await transaction.query(SAVE, [
    variableId,
    formulaIndexes,
    wanted.map(({ cron }) => cron),
    wanted.map(({ timeZoneId }) => timeZoneId),
    wanted.map(({ validFrom }) => validFrom ?? '-infinity'),
    wanted.map(({ validUntil }) => validUntil ?? 'infinity'),
  ]);
}

/** Requests the runs that are due (R-H5). @returns ids of their variables. The caller must wake the calculators. */
export async function fireSchedules(database: Database, clock: Clock): Promise<readonly number[]> {
  const fired: number[] = [];
  for (;;) {
    const steps = await withTransaction(database, (transaction) => fireSome(transaction, clock.nowMillis()));
    fired.push(...steps.flatMap(({ due }) => (due ? [due.variableId] : [])));
    if (steps.length < SCHEDULES_PER_LOOK) return fired;
  }
}

async function fireSome(transaction: Transaction, nowMillis: number): Promise<readonly Step[]> {
  const { rows } = await transaction.query<Row>(LOOK, [new Date(nowMillis).toISOString(), SCHEDULES_PER_LOOK]);
  if (rows.length === 0) return [];
  const steps = rows.map((row) => planStep(row, nowMillis));
  const due = steps.flatMap((step) => step.due ?? []);
  if (due.length > 0) await requestScheduled(transaction, due);
  await transaction.query(MOVE_ON, [
    rows.map(({ variableId }) => variableId),
    rows.map(({ formula }) => formula),
    steps.map(({ afterMillis }) => toText(afterMillis)),
    steps.map(({ nextMillis }) => toText(nextMillis)),
  ]);
  return steps;
}

function planStep(row: Row, nowMillis: number): Step {
  const { variableId, cron, timeZoneId } = row;
  const firstMillis = row.nextDate === null ? nextOf(row, Date.parse(row.afterDate)) : Date.parse(row.nextDate);
  if (firstMillis > nowMillis) {
    return { row, due: undefined, afterMillis: Date.parse(row.afterDate), nextMillis: firstMillis };
  }
  const end = row.validUntil === null ? nowMillis : Math.min(nowMillis, Date.parse(row.validUntil) - 1);
  const lastMillis = Math.max(firstMillis, lastInstant(cron, timeZoneId, end) ?? firstMillis);
  const due = { variableId, firstMillis, lastMillis };
  return { row, due, afterMillis: lastMillis, nextMillis: nextOf(row, lastMillis) };
}

function nextOf({ cron, timeZoneId, validFrom, validUntil }: Row, afterMillis: number): number {
  const begin = validFrom === null ? afterMillis : Math.max(afterMillis, Date.parse(validFrom) - 1);
  const next = nextInstant(cron, timeZoneId, begin) ?? Number.POSITIVE_INFINITY;
  return validUntil !== null && next >= Date.parse(validUntil) ? Number.POSITIVE_INFINITY : next;
}

function toText(millis: number): string {
  return Number.isFinite(millis) ? new Date(millis).toISOString() : 'infinity';
}
