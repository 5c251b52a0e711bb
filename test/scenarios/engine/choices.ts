/** Resolves the version clauses of a read: a named moment or a relative version becomes an instant. */
import { Temporal } from 'temporal-polyfill';
import { before } from './instants.ts';
import type { Choice, KnownAt } from './syntax.ts';
import type { Spans } from './world.ts';

export type ResolvedChoice = Omit<Choice, 'knownAt'> & { readonly knownMicros?: number };

export function resolveChoice({ knownAt, ...choice }: Choice, spans: Spans): ResolvedChoice {
  const knownMicros = knownAt && knownInstant(knownAt, spans);
  return { ...choice, ...(knownMicros !== undefined && { knownMicros }) };
}

/** @returns the as-of instant; undefined for `Current`. */
function knownInstant(knownAt: KnownAt, spans: Spans): number | undefined {
  if (knownAt.kind === 'instant') return knownAt.micros;
  if (knownAt.kind === 'label') {
    const { firstMicros, lastMicros } = spans.get(knownAt.label);
    return knownAt.isBefore ? firstMicros - 1 : lastMicros;
  }
  const duration = relativeDuration(knownAt.text);
  return duration && before(knownAt.nowMicros, duration, knownAt.timeZoneId);
}

/** Parses a relative version such as `last 3 days`, `last day` or `P3D`. @returns undefined for `Current`. */
function relativeDuration(text: string): Temporal.Duration | undefined {
  if (text.toLowerCase() === 'current') return undefined;
  const [, count = '1', unit] = /^last (?:(\d+) )?(hour|day|week|month|year)s?$/i.exec(text) ?? [];
  return Temporal.Duration.from(unit === undefined ? text : { [`${unit.toLowerCase()}s`]: Number(count) });
}
