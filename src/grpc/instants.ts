/** Converts instants of stored records from text to microseconds. */
import { parseMoment } from '../platform/dates/date-rules.ts';
import type { Micros } from '../points/point.ts';

/**
 * Converts an instant of a stored record to microseconds since 1970.
 * @throws Error when the text is not an instant; stored records contain no such text.
 */
export function toMicros(text: string): Micros {
  const moment = parseMoment(text);
  if (!moment) throw new Error(`a stored instant must be a valid date and time, got ${JSON.stringify(text)}`);
  return moment.micros;
}
