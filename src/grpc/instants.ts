/** Converts instants of stored records from text to microseconds. */
import { parseMoment } from '../platform/dates/date-rules.ts';
import type { Micros } from '../points/point.ts';

/**
 * Converts an instant of a stored record to microseconds since 1970.
 * @throws Error when the text is not an instant, which stored records never contain.
 */
export function toMicros(text: string): Micros {
  const moment = parseMoment(text);
  if (!moment) throw new Error(`${JSON.stringify(text)} is not an instant`);
  return moment.micros;
}
