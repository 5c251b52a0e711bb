/** Model of the entries that a push or a script stores (§2, §7, §9.2, §9.4, R-D3). */
import { toInstant } from '../../scenarios/engine/instants.ts';
import type { PushBody, ScriptOutput, ScriptRow, Tags } from '../../scenarios/engine/syntax.ts';
import type { ModelEntry, ModelVersion } from './version-model.ts';

export interface VariableEntry extends ModelEntry {
  readonly variable: string;
}

/**
 * Lists the entries of a push. A reading's version takes precedence over the element's version. A reading's tags are
 * added to the element's tags and replace none of them (R-D3).
 */
export function pushedEntries(body: PushBody): readonly VariableEntry[] {
  return body.flatMap(({ variable, readings, ...element }) =>
    readings.map(({ dateMicros, value, ...reading }) => {
      const version = reading.version ?? element.version ?? null;
      return { variable, dateMicros, value, version, tags: withVersion({ ...reading.tags, ...element.tags }, version) };
    }),
  );
}

/**
 * @throws {Error} with the message that §7 prescribes, when `versionColumn` or `tagsColumn` has more or fewer items
 * than there are rows.
 */
export function storedOutput(output: ScriptOutput, isVersioned: boolean, atMicros: number): readonly ModelEntry[] {
  const { rows, versionColumn, tagsColumn } = output;
  if (versionColumn && versionColumn.length !== rows.length) {
    throw new Error('Version must be the same length as Dates/Values');
  }
  if (tagsColumn && tagsColumn.length !== rows.length) {
    throw new Error('Tags must be the same length as Dates/Values');
  }
  const stored = rows.map((row, index): ModelEntry => {
    const given = versionColumn?.[index] ?? row.version ?? '';
    const version = isVersioned ? given || defaultVersion(atMicros) : null;
    const tags = readTags(tagsColumn?.[index] ?? row.tags ?? '');
    return { dateMicros: row.dateMicros, value: row.value, version, tags: withVersion(tags, version) };
  });
  return stored.filter(({ value }) => Number.isFinite(value));
}

/** @returns the result of a script that returns its input: values, versions and tags. */
export function copyOf(input: readonly ModelVersion[]): ScriptOutput {
  const rows = input.map(({ dateMicros, value, version, tags }): ScriptRow => {
    return { dateMicros, value, ...(version !== null && { version }), tags: JSON.stringify(tags) };
  });
  return { rows };
}

/**
 * @returns the Version that a row gets when the script returns none for it: the time of the calculation, rounded up to
 * the UTC hour (§9.4).
 */
function defaultVersion(atMicros: number): string {
  const hour = toInstant(atMicros).round({ smallestUnit: 'hour', roundingMode: 'ceil' });
  return hour.toString().slice(0, 'yyyy-MM-ddTHH:mm:ss'.length);
}

/** Adds a row's Version as the tag `version`, unless the row already has this tag (§9.2 rule 1). */
function withVersion(tags: Tags, version: string | null): Tags {
  return version === null ? tags : { version, ...tags };
}

/** Parses a Tags cell. A cell that is not a JSON object of strings leaves its row without tags (§7). */
function readTags(cell: string): Tags {
  try {
    const tags: unknown = JSON.parse(cell || '{}');
    const isObject = typeof tags === 'object' && tags !== null && !Array.isArray(tags);
    return isObject && Object.values(tags).every((value) => typeof value === 'string') ? (tags as Tags) : {};
  } catch {
    return {};
  }
}
