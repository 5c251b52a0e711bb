/** Formats instants for display: relative to now, or as date and time. */
import { Tooltip } from '@mantine/core';
import { currentLanguage, currentLocale } from '../texts/language.ts';
import { writeAgo, writeMoment } from './moment-text.ts';

/** Formats an instant relative to now, in the person's language: `3 days ago`, `in 2 hours`. */
function formatAgo(instant: string): string {
  return writeAgo(instant, Date.now(), currentLanguage());
}

/**
 * Formats date and time in a zone; without `timeZone`, in the zone of the browser. In the hour that repeats when clocks
 * go back, the text ends with the offset from GMT.
 */
export function formatMoment(instant: string | number, timeZone?: string): string {
  return writeMoment(instant, { dateStyle: 'medium', timeStyle: 'short' }, timeZone, currentLocale());
}

/** Formats date and time with seconds, because several versions may be written within one minute. */
export function formatVersion(instant: string | number, timeZone?: string): string {
  return writeMoment(instant, { dateStyle: 'medium', timeStyle: 'medium' }, timeZone, currentLocale());
}

/** Shows how long ago an instant was, or how far ahead it is. A tooltip shows date and time in the browser's zone. */
export function Ago({ instant }: { readonly instant: string }) {
  return (
    <Tooltip label={formatMoment(instant)}>
      <time dateTime={instant}>{formatAgo(instant)}</time>
    </Tooltip>
  );
}
