/** Instants of records, which are texts where they come from, as microseconds. */

import { parseMoment } from '../platform/dates/date-rules.ts';
import type { Micros } from '../points/point.ts';

/** @throws Error for text that is no instant: what is stored is. */
export function toMicros(text: string): Micros {
  const moment = parseMoment(text);
  if (!moment) throw new Error(`${JSON.stringify(text)} is no instant`);
  return moment.micros;
}
