/** Moments as readers write them (R-A8, R-G1): an ISO 8601 date and time, or a date alone, which is where its day begins. */
import { type ParsedDate, parseDate } from '../points/date-rules.ts';
import { MAX_DATE_MICROS, MIN_DATE_MICROS } from '../points/instant-rules.ts';

export interface ParsedMoment extends ParsedDate {
  /** It was given as a date alone: `micros` is its midnight, and `isLocal` is set. */
  readonly isDay: boolean;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MIDNIGHT = 'T00:00:00';
const FINER_THAN_MICROS = /([.,]\d{6})\d+/;
const YEAR = /^\d{4}/;
// As long as those it stands for, and inside of what dates may be.
const [COMMON_YEAR, LEAP_YEAR] = ['2001', '2004'];

/** What a moment must look like, for messages. */
export const MOMENT_RULE = 'must be an ISO 8601 date, or date and time, such as 2026-03-01 or 2026-03-01T00:15:00Z';

/**
 * What is finer than microseconds is cut off. Clients ask for everything by year 1 or 9999: what is beyond all dates is as
 * good as the first or the last of them.
 * @returns undefined for text that is neither.
 */
export function parseMoment(text: string): ParsedMoment | undefined {
  const isDay = DAY.test(text);
  const whole = (isDay ? text + MIDNIGHT : text).replace(FINER_THAN_MICROS, '$1');
  const date = parseDate(whole) ?? parseBeyond(whole);
  return date && { ...date, isDay };
}

function parseBeyond(text: string): ParsedDate | undefined {
  const year = Number(YEAR.exec(text)?.[0]);
  const isBefore = year < new Date(MIN_DATE_MICROS / 1000).getUTCFullYear();
  const isAfter = year >= new Date(MAX_DATE_MICROS / 1000).getUTCFullYear();
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const isDate = (isBefore || isAfter) && parseDate(text.replace(YEAR, isLeap ? LEAP_YEAR : COMMON_YEAR)) !== undefined;
  return isDate ? { micros: isBefore ? MIN_DATE_MICROS : MAX_DATE_MICROS, isLocal: false } : undefined;
}
