/** Writes instants as texts: relative to another instant, or as date and time in a zone. Pure. */

const HOUR_MS = 3_600_000;
/** By how much clocks go back: an hour in most zones, half an hour on Lord Howe Island, two hours at Troll station. */
const SET_BACK_MS = [HOUR_MS / 2, HOUR_MS, 2 * HOUR_MS];

/** Units and their lengths in seconds; those of a year and a month are averages. */
const UNITS = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** Formats an instant relative to `nowMs`: `3 days ago`, `in 2 hours`. */
export function writeAgo(instant: string, nowMs: number, locale: string): string {
  const seconds = Math.round((Date.parse(instant) - nowMs) / 1000);
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  const unit = UNITS.find(([, length]) => Math.abs(seconds) >= length);
  return unit ? format.format(Math.trunc(seconds / unit[1]), unit[0]) : format.format(Math.min(0, seconds), 'second');
}

/**
 * Formats an instant. For an instant whose local time repeats when clocks go back, appends the offset from GMT.
 * @param timeZone zone of the text; undefined means the zone of the runtime.
 */
export function writeMoment(
  instant: string | number,
  styles: Intl.DateTimeFormatOptions,
  timeZone: string | undefined,
  locale: string,
): string {
  const date = new Date(instant);
  const zone = timeZone === undefined ? {} : { timeZone };
  const format = new Intl.DateTimeFormat(locale, { ...styles, ...zone });
  const text = format.format(date);
  const isRepeated = SET_BACK_MS.flatMap((ms) => [-ms, ms]).some((ms) => format.format(date.getTime() + ms) === text);
  if (!isRepeated) return text;
  const parts = new Intl.DateTimeFormat(locale, { ...zone, timeZoneName: 'shortOffset' }).formatToParts(date);
  return `${text} ${parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''}`.trim();
}
