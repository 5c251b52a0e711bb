/** Moments as readers write them (R-A8, R-G1): an ISO 8601 date and time, or a date alone, which is where its day begins. */
import { type ParsedDate, parseDate } from '../points/date-rules.ts';

export interface ParsedMoment extends ParsedDate {
  /** It was given as a date alone: `micros` is its midnight, and `isLocal` is set. */
  readonly isDay: boolean;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MIDNIGHT = 'T00:00:00';

/** What a moment must look like, for messages. */
export const MOMENT_RULE =
  'must be an ISO 8601 date, or date and time, such as 2026-03-01 or 2026-03-01T00:15:00Z, from 1700 to 2199';

/** @returns undefined for text that is neither. */
export function parseMoment(text: string): ParsedMoment | undefined {
  const isDay = DAY.test(text);
  const date = parseDate(isDay ? text + MIDNIGHT : text);
  return date && { ...date, isDay };
}
