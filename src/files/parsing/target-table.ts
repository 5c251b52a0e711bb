/**
 * Assigns a number to each combination of identifiers in a file, so that the variable is looked up per combination, not
 * per row (§2).
 */
import { isStorableText, STORABLE_RULE } from '../../platform/database/storable-text.ts';
import { MAX_TEXT } from '../../platform/limits.ts';
import type { TargetIdentifiers } from '../../push/body/push-element.ts';
import { ID_RULE } from '../../push/body/push-messages.ts';
import type { Target, Unresolved } from '../../push/resolve-targets.ts';
import { type LocalClock, localClock } from '../../structure/catalogue/time-zones.ts';
import { parseFileId, show } from '../cells/cell-parser.ts';
import type { RowErrorCode } from '../standard-file.ts';
import { COLUMN_OF, type Columns, type Identifier } from './header-columns.ts';

// Maximum number of combinations that this table or a `LabelTable` keeps for the next chunk. The maximum bounds memory
// when every row has a different combination.
export const MAX_ENTRIES = 100_000;
const IDS: ReadonlySet<string> = new Set(['variableId', 'sourceId', 'variableTypeId']);
const SEPARATOR = '\u0000';

/** Reason why a row is rejected because of its identifiers, version or tags. */
export interface Problem {
  readonly code: RowErrorCode;
  readonly message: string;
}

/**
 * Result of resolving a combination of identifiers: the variable with its divider and local clock, or the reason why
 * the combination has no variable.
 */
export type ResolvedTarget =
  | ({ readonly kind: 'found'; readonly clock: LocalClock } & Target)
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
  #generation = 0;

  /**
   * @param decode decodes the raw text of a cell, which for CSV has one character per byte. Returns undefined when the
   *   bytes are not UTF-8.
   */
  constructor(columns: Columns['identifiers'], decode: (text: string) => string | undefined) {
    this.#columns = columns;
    this.#decode = decode;
  }

  /**
   * Returns the id of the combination of identifiers in a row. Adds the combination to the table if it is new.
   * @param cells the cells of the row, indexed by column.
   */
  idOf(cells: readonly string[]): number {
    const columns = this.#columns;
    let key = cells[columns[0]?.column ?? 0] ?? '';
    for (let index = 1; index < columns.length; index += 1)
      key += SEPARATOR + (cells[columns[index]?.column ?? 0] ?? '');
    return this.#ids.get(key) ?? this.#add(key, cells);
  }

  /** Returns the combinations that are not resolved yet, each with the number that identifies it. */
  unresolved(): readonly { readonly id: number; readonly identifiers: TargetIdentifiers }[] {
    return this.#entries.flatMap(({ identifiers, resolved }, id) => (resolved ? [] : [{ id, identifiers }]));
  }

  /** Stores the target of a combination of identifiers, or the reason why the combination has no target. */
  resolve(id: number, target: Target | Unresolved): void {
    const entry = this.#entries[id];
    if (!entry) return;
    entry.resolved =
      'code' in target
        ? { kind: 'problem', problem: target }
        : { kind: 'found', ...target, clock: localClock(target.timeZoneId) };
  }

  /** Counts how often the table was cleared. Clearing invalidates the numbers of all combinations. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Returns the target of a combination of identifiers, or the reason why the combination has no target.
   * @throws {Error} when the combination is unknown or not resolved yet.
   */
  get(id: number): ResolvedTarget {
    const resolved = this.#entries[id]?.resolved;
    if (!resolved) throw new Error(`the combination of identifiers with number ${id} is unknown or not resolved`);
    return resolved;
  }

  /**
   * Clears the table when it has more than MAX_ENTRIES combinations. All numbers that `idOf` has returned are then
   * invalid.
   */
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
      problem ??= {
        code: 'target_not_found',
        message: 'the row must have at least one identifier of a variable or of its source',
      };
    }
    const id = this.#entries.push({ identifiers, resolved: problem && { kind: 'problem', problem } }) - 1;
    this.#ids.set(copyOf(key), id);
    return id;
  }

  #parse(name: Identifier, raw: string): number | string | Problem {
    const text = this.#decode(raw);
    const invalid = (rule: string): Problem => ({ code: 'invalid_identifier', message: `${COLUMN_OF[name]} ${rule}` });
    if (text === undefined) return invalid('must be text encoded in UTF-8');
    if (IDS.has(name)) return parseFileId(text) ?? invalid(`${ID_RULE}, got ${show(text)}`);
    if (text.length > MAX_TEXT) return invalid(`must be at most ${MAX_TEXT} characters, got ${text.length}`);
    return isStorableText(text) ? text : invalid(STORABLE_RULE);
  }
}

/** Copies a slice of a text, because V8 would keep the whole text in memory as long as the slice exists. */
export function copyOf(slice: string): string {
  return Buffer.from(slice, 'utf16le').toString('utf16le');
}
