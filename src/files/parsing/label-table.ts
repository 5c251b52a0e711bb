/**
 * Assigns a number to each combination of version and tags in a file, so that dictionary ids are looked up per
 * combination, not per row.
 */
import { isStorableText, STORABLE_RULE } from '../../platform/database/storable-text.ts';
import { type Labels, MAX_VERSION, toLabels } from '../../points/label-rules.ts';
import { parseFileTags } from '../cells/cell-parser.ts';
import { copyOf, MAX_ENTRIES, type Problem } from './target-table.ts';

const SEPARATOR = '\u0000';

/** Dictionary ids of a VersionTag and of a tag set. */
export interface LabelIds {
  readonly versionTagId: number;
  readonly tagSetId: number;
}

interface Entry {
  readonly labels: Labels | undefined;
  readonly problem: Problem | undefined;
  ids: LabelIds | undefined;
}

export class LabelTable {
  readonly #decode: (text: string) => string | undefined;
  readonly #ids = new Map<string, number>();
  #entries: Entry[] = [];
  #generation = 0;

  /** @param decode function that turns a cell of the file into text, and a cell that is not UTF-8 into undefined. */
  constructor(decode: (text: string) => string | undefined) {
    this.#decode = decode;
  }

  /**
   * Returns the number of a combination. Adds the combination first if it is new. An empty string stands for no
   * version, or for no tags.
   */
  idOf(version: string, tags: string): number {
    const key = version + SEPARATOR + tags;
    return this.#ids.get(key) ?? this.#add(key, version, tags);
  }

  /** Returns the valid combinations of version and tags whose dictionary ids are still unknown. */
  unresolved(): readonly { readonly id: number; readonly labels: Labels }[] {
    return this.#entries.flatMap(({ labels, ids }, id) => (labels && !ids ? [{ id, labels }] : []));
  }

  /** Stores the dictionary ids of a combination of labels. */
  resolve(id: number, ids: LabelIds): void {
    const entry = this.#entries[id];
    if (entry) entry.ids = ids;
  }

  /** How many times the table was cleared. A number from `idOf` is valid only until the table is cleared. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Returns the dictionary ids of a combination, or the problem that makes the combination invalid.
   * @throws {Error} when the combination is unknown, or is valid but not resolved yet.
   */
  get(id: number): LabelIds | Problem {
    const entry = this.#entries[id];
    const found = entry?.ids ?? entry?.problem;
    if (!found) throw new Error(`the combination of version and tags with number ${id} is unknown or not resolved`);
    return found;
  }

  /** Clears the table when it has more than 100,000 combinations. Then no number from `idOf` is valid any more. */
  trim(): void {
    if (this.#entries.length <= MAX_ENTRIES) return;
    this.#ids.clear();
    this.#entries = [];
    this.#generation += 1;
  }

  #add(key: string, version: string, tags: string): number {
    const parsed = this.#parse(version, tags);
    const entry = 'code' in parsed ? { labels: undefined, problem: parsed } : { labels: parsed, problem: undefined };
    const id = this.#entries.push({ ...entry, ids: undefined }) - 1;
    this.#ids.set(copyOf(key), id);
    return id;
  }

  #parse(rawVersion: string, rawTags: string): Labels | Problem {
    const [version, text] = [this.#decode(rawVersion), this.#decode(rawTags)];
    if (version === undefined) return { code: 'invalid_version', message: 'version must be text encoded in UTF-8' };
    if (text === undefined) return { code: 'invalid_tags', message: 'tags must be text encoded in UTF-8' };
    if (version.length > MAX_VERSION) {
      return {
        code: 'invalid_version',
        message: `version must be at most ${MAX_VERSION} characters, got ${version.length}`,
      };
    }
    if (!isStorableText(version)) return { code: 'invalid_version', message: `version ${STORABLE_RULE}` };
    if (!isStorableText(text)) return { code: 'invalid_tags', message: `tags ${STORABLE_RULE}` };
    const tags = parseFileTags(text);
    if (typeof tags === 'string') return { code: 'invalid_tags', message: tags };
    return toLabels(version === '' ? undefined : version, tags);
  }
}
