/** The header `Time-Zone` of an answer names the zones in which dates without a zone were read (R-A11). */
import type { Context } from 'hono';

export const DATE_ZONE_HEADER = 'Time-Zone';

/** Sets the header `Time-Zone`, unless `zones` is empty. */
export function setDateZones(c: Context, zones: readonly string[]): void {
  if (zones.length > 0) c.header(DATE_ZONE_HEADER, formatDateZones(zones));
}

/**
 * Formats the value of the header `Time-Zone`.
 * @param zones IANA names.
 */
export function formatDateZones(zones: readonly string[]): string {
  return zones.join(', ');
}
