/**
 * Cron expressions of formulas (R-H5): five fields, six fields with the seconds first, or a name such as @daily. When
 * the clocks of the time zone change, for example for daylight saving time:
 * - An expression with one time of day fires once on each of its days.
 * - An expression with several times of day does not fire at a skipped time, and fires twice at a repeated time.
 */
import { Cron } from 'croner';
import { z } from 'zod';
import { lenientObject } from '../../platform/http/lenient.ts';
import { timeZoneSchema } from '../../structure/catalogue/time-zones.ts';

export interface Schedule {
  readonly cron: string;
  /** IANA zone; null means the zone of the variable's source. */
  readonly timeZoneId: string | null;
}

/** A due schedule, with the first and the last of the past instants for which the schedule has not fired. */
export interface DueSchedule {
  readonly variableId: number;
  readonly firstMillis: number;
  readonly lastMillis: number;
}

export const CRON_RULE = 'must be a cron expression that matches a time in the future, such as 15 6 * * 1-5';

// Zone in which `hasNextInstant` checks an expression; any zone would do.
const SOME_ZONE = 'UTC';

const cronSchema = z
  .string()
  .max(200)
  .refine(hasNextInstant, {
    error: ({ input }) => `${CRON_RULE}, got ${JSON.stringify(input)}`,
  });

/** A cron expression, or an object with a cron expression and optionally a time zone. Empty text means no schedule. */
export const scheduleSchema = z
  .union([z.literal(''), cronSchema, lenientObject({ cron: cronSchema, timeZoneId: timeZoneSchema.nullish() })])
  .transform((given): Schedule | null => {
    if (typeof given === 'string') return given === '' ? null : { cron: given, timeZoneId: null };
    return { cron: given.cron, timeZoneId: given.timeZoneId ?? null };
  });

/**
 * @returns the first instant after `afterMillis` that the cron expression matches, in milliseconds; undefined when it
 * matches no later instant (R-H5).
 */
export function nextInstant(cron: string, timeZoneId: string, afterMillis: number): number | undefined {
  return openCron(cron, timeZoneId).nextRun(new Date(afterMillis))?.getTime();
}

/** @returns the next instants of the cron expression after `afterMillis`, at most `count`, in milliseconds (R-H5). */
export function nextInstants(cron: string, timeZoneId: string, afterMillis: number, count: number): readonly number[] {
  return openCron(cron, timeZoneId)
    .nextRuns(count, new Date(afterMillis))
    .map((instant) => instant.getTime());
}

/**
 * @returns the last instant of the cron expression at or before `untilMillis`, in milliseconds; undefined if there is
 *   none (R-H5).
 */
export function lastInstant(cron: string, timeZoneId: string, untilMillis: number): number | undefined {
  return openCron(cron, timeZoneId)
    .previousRuns(1, new Date(untilMillis + 1))
    .at(0)
    ?.getTime();
}

/** @returns whether the text is a cron expression that matches an instant in the future. */
export function hasNextInstant(cron: string): boolean {
  try {
    return /^\S+(\s+\S+){4,5}$|^@\w+$/.test(cron.trim()) && openCron(cron, SOME_ZONE).nextRun() !== null;
  } catch {
    return false;
  }
}

/** Parses a cron expression. `?` means the same as `*`. */
function openCron(cron: string, timeZoneId: string): Cron {
  return new Cron(cron.trim().replaceAll('?', '*'), { paused: true, timezone: timeZoneId });
}
