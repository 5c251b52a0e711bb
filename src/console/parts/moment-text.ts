/** Writes the date and time of an instant in a zone. Pure. */

const HOUR_MS = 3_600_000;

/**
 * Formats an instant. In the hour that a clock shows twice, the offset from GMT follows the text.
 * @param timeZone undefined: the zone of the runtime.
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
  const isRepeated = [-HOUR_MS, HOUR_MS].some((ms) => format.format(date.getTime() + ms) === text);
  if (!isRepeated) return text;
  const parts = new Intl.DateTimeFormat(locale, { ...zone, timeZoneName: 'shortOffset' }).formatToParts(date);
  return `${text} ${parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''}`.trim();
}
