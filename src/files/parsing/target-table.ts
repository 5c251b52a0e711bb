/** The identifier combinations of a file, each known by a small number and resolved once (§2: rows sharing one are grouped). */
import { isStorableText, STORABLE_RULE } from '../../platform/database/storable-text.ts';
import type { TargetIdentifiers } from '../../push/body/push-element.ts';
import type { Target, Unresolved } from '../../push/resolve-targets.ts';
import { type LocalClock, localClock } from '../../structure/catalogue/time-zones.ts';
import { parseFileId, show } from '../cells/cell-rules.ts';
import type { RowErrorCode } from '../standard-file.ts';
import type { Columns } from './columns-rules.ts';

const MAX_TEXT = 1000;
// Rows that all mean something else must not fill the memory; the table begins anew between two chunks.
const MAX_ENTRIES = 100_000;
const IDS: ReadonlySet<string> = new Set(['variableId', 'sourceId', 'variableTypeId']);
const SEPARATOR = '\u0000';

/** Why rows of a combination are not ingested. */
export interface Problem {
  readonly code: RowErrorCode;
  readonly message: string;
}

export type ResolvedTarget =
  | { readonly kind: 'found'; readonly variableId: number; readonly timeZoneId: string; readonly clock: LocalClock }
  | { readonly kind: 'problem'; readonly problem: Problem };

interface Entry {
  readonly identifiers: TargetIdentifiers;
  resolved: ResolvedTarget | undefined;
}

export class TargetTable {
  readonly #columns: Columns['identifiers'];
  readonly #decode: (text: string) => string | undefined;
  readonly #ids = new Map<string, number>();
  #entries: Entry[] = [];
  /** How often everything was forgotten. */
  #generation = 0;

  /** @param decode a cell as it was read → its text, undefined when it is not UTF-8. */
  constructor(columns: Columns['identifiers'], decode: (text: string) => string | undefined) {
    this.#columns = columns;
    this.#decode = decode;
  }

  /** The number of the combination in `cells`, which are indexed by column. */
  idOf(cells: readonly string[]): number {
    const columns = this.#columns;
    let key = cells[columns[0]?.column ?? 0] ?? '';
    for (let index = 1; index < columns.length; index += 1)
      key += SEPARATOR + (cells[columns[index]?.column ?? 0] ?? '');
    return this.#ids.get(key) ?? this.#add(key, cells);
  }

  /** Combinations not yet resolved, with their numbers. */
  unresolved(): readonly { readonly id: number; readonly identifiers: TargetIdentifiers }[] {
    return this.#entries.flatMap(({ identifiers, resolved }, id) => (resolved ? [] : [{ id, identifiers }]));
  }

  resolve(id: number, target: Target | Unresolved): void {
    const entry = this.#entries[id];
    if (!entry) return;
    entry.resolved =
      'code' in target
        ? { kind: 'problem', problem: target }
        : { kind: 'found', ...target, clock: localClock(target.timeZoneId) };
  }

  /** Changes when numbers given out before mean nothing any more. */
  get generation(): number {
    return this.#generation;
  }

  /** What a number stands for, once it is resolved. */
  get(id: number): ResolvedTarget {
    const resolved = this.#entries[id]?.resolved;
    if (!resolved) throw new Error(`target ${id} is not resolved`);
    return resolved;
  }

  /** Forgets everything when there is too much of it. Numbers given out before mean nothing afterwards. */
  trim(): void {
    if (this.#entries.length <= MAX_ENTRIES) return;
    this.#ids.clear();
    this.#entries = [];
    this.#generation += 1;
  }

  #add(key: string, cells: readonly string[]): number {
    const identifiers: Record<string, number | string> = {};
    let problem: Problem | undefined;
    for (const { name, column } of this.#columns) {
      const raw = cells[column] ?? '';
      if (raw.trim() === '') continue;
      const value = this.#parse(name, raw);
      if (typeof value === 'object') problem ??= value;
      else identifiers[name] = value;
    }
    if (Object.keys(identifiers).length === 0) {
      problem ??= { code: 'target_not_found', message: 'the row gives no identifier of a variable' };
    }
    const id = this.#entries.push({ identifiers, resolved: problem && { kind: 'problem', problem } }) - 1;
    this.#ids.set(copyOf(key), id);
    return id;
  }

  #parse(name: string, raw: string): number | string | Problem {
    const text = this.#decode(raw);
    const invalid = (rule: string): Problem => ({ code: 'invalid_identifier', message: `${name} ${rule}` });
    if (text === undefined) return invalid('is not UTF-8');
    if (IDS.has(name)) return parseFileId(text) ?? invalid(`must be an integer id, got ${show(text)}`);
    if (text.length > MAX_TEXT) return invalid(`must be at most ${MAX_TEXT} characters`);
    return isStorableText(text) ? text : invalid(STORABLE_RULE);
  }
}

/** A text of its own: a slice would keep the megabyte it was cut from. */
export function copyOf(slice: string): string {
  return Buffer.from(slice, 'utf16le').toString('utf16le');
}
