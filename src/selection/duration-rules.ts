/** Parses durations in requests (R-G2): ISO 8601 durations, and texts such as `last 3 days` for a relative version. */
import type { CivilDuration } from '../points/point.ts';

/** Rule for a duration, as error messages state it. */
export const DURATION_RULE = 'must be an ISO 8601 duration of at most 100 years, such as PT24H, P1D or P1M';

/** Rule for a relative version, as error messages state it. */
export const RELATIVE_RULE =
  'must be "Current" or a time span of at most 100 years; write "last 3 days" (or hours, weeks, months, years), or an ISO 8601 duration such as P1M';

const MICROS_PER_SECOND = 1_000_000;
const CLOCK_MICROS: Readonly<Record<string, number>> = {
  H: 3600 * MICROS_PER_SECOND,
  M: 60 * MICROS_PER_SECOND,
  S: MICROS_PER_SECOND,
};
const MICROS_PER_DAY = 24 * 3600 * MICROS_PER_SECOND;
/** Length of a month in days when a duration is compared with the maximum. A year therefore has 366 days. */
const DAYS_PER_MONTH = 30.5;
/** Maximum duration: 100 years. */
const MAX_DAYS = 36_600;

const CIVIL_PART = String.raw`(?:(\d{1,9})Y)?(?:(\d{1,9})M)?(?:(\d{1,9})W)?(?:(\d{1,9})D)?`;
const NUMBER = String.raw`\d{1,12}(?:[.,]\d{1,9})?`;
const CLOCK_PART = `(?:T((?:${NUMBER}H)?(?:${NUMBER}M)?(?:${NUMBER}S)?))?`;
const ISO_DURATION = new RegExp(`^P(?=.)${CIVIL_PART}${CLOCK_PART}$`, 'i');
const COUNTED = /^(?:(last)[\s_-]*)?(\d{1,9})?[\s_-]*(hour|day|week|month|year)s?$/i;

/** Result of `parseRelative` for the text `Current`, which selects the latest version of each point. */
export const CURRENT = 'current';

/**
 * Parses an ISO 8601 duration (R-G2). Only hours, minutes and seconds may have a fraction, and of these only the
 * smallest unit given: `PT1.5H` is valid, `PT1.5H30M` is not. A fraction is rounded to microseconds.
 * @returns undefined for other text, and for more than 100 years.
 */
export function parseDuration(text: string): CivilDuration | undefined {
  const match = ISO_DURATION.exec(text.trim());
  if (!match) return undefined;
  const [, years = '0', months = '0', weeks = '0', days = '0', clock] = match;
  const micros = clock === undefined ? 0 : parseClock(clock.toUpperCase());
  if (micros === undefined) return undefined;
  return bounded({
    months: Number(years) * 12 + Number(months),
    days: Number(weeks) * 7 + Number(days),
    micros,
  });
}

/**
 * Parses a relative version: `Current`, `last 3 days`, `3 days`, `Last3Days`, `last day` (one day), or
 * an ISO 8601 duration (R-G2).
 * @returns undefined for other text, and for more than 100 years.
 */
export function parseRelative(text: string): CivilDuration | typeof CURRENT | undefined {
  const trimmed = text.trim();
  if (trimmed.toLowerCase() === CURRENT) return CURRENT;
  const [, last, digits, unit = ''] = COUNTED.exec(trimmed) ?? [];
  if (last === undefined && digits === undefined) return parseDuration(trimmed);
  return bounded(counted(digits === undefined ? 1 : Number(digits), unit.toLowerCase()));
}

function counted(count: number, unit: string): CivilDuration {
  const none = { months: 0, days: 0, micros: 0 };
  if (unit === 'year') return { ...none, months: count * 12 };
  if (unit === 'month') return { ...none, months: count };
  if (unit === 'week') return { ...none, days: count * 7 };
  if (unit === 'day') return { ...none, days: count };
  return { ...none, micros: count * 3600 * MICROS_PER_SECOND };
}

/** Parses `1H30M` or `1.5H`. @returns undefined for empty text and for a fraction that is not in the last part. */
function parseClock(text: string): number | undefined {
  const parts = [...text.matchAll(/([\d.,]+)([HMS])/g)];
  if (parts.length === 0 || parts.slice(0, -1).some(([, number = '']) => /[.,]/.test(number))) return undefined;
  return parts.reduce((sum, [, number = '', unit = '']) => {
    return sum + Math.round(Number(number.replace(',', '.')) * (CLOCK_MICROS[unit] ?? 0));
  }, 0);
}

/** @returns undefined when the months, days and clock time add up to more than 100 years. */
function bounded(duration: CivilDuration): CivilDuration | undefined {
  const { months, days, micros } = duration;
  return months * DAYS_PER_MONTH + days + micros / MICROS_PER_DAY <= MAX_DAYS ? duration : undefined;
}
