/** Parses the rows of a document and passes the parsed rows on, in batches of bounded size. */
import type { ErrorDetail } from '../../../platform/errors.ts';
import { parseEntryRow } from '../document/entry-rows.ts';
import { parseFormRow } from '../document/form-rows.ts';
import { LIST_NAMES, type ListName, listMembers } from '../document/kinds.ts';
import { parseRow, type StagedRow } from '../document/parse-row.ts';
import { DocumentRefusal, toRefusal } from './document-refusal.ts';
import type { DocumentNote, StagedBatch } from './reading-messages.ts';

const MAX_BATCH_ROWS = 2000;
const MAX_BATCH_CHARACTERS = 2 << 20;
const MAX_IGNORED = 100;
const KNOWN: Readonly<Record<ListName, ReadonlySet<string>>> = {
  catalogues: lowerCase('catalogues'),
  forms: lowerCase('forms'),
  sites: lowerCase('sites'),
  sources: lowerCase('sources'),
  variables: lowerCase('variables'),
};

function lowerCase(name: ListName): ReadonlySet<string> {
  // The answers to GET requests have these members. An import does not use them, and does not report them as ignored.
  const read = ['id', 'siteid', 'sourceid', 'problems', 'formproblems'];
  return new Set([...listMembers(name).map((member) => member.toLowerCase()), ...read]);
}

export class RowBatches {
  /** Bytes of the document read so far; the reader sets it. */
  bytes = 0;
  readonly #maxRows: number;
  readonly #send: (batch: StagedBatch) => Promise<void>;
  readonly #counts: Record<ListName, number> = { catalogues: 0, forms: 0, sites: 0, sources: 0, variables: 0 };
  readonly #ignored = new Set<string>();
  #rows: StagedRow[] = [];
  #problems: ErrorDetail[] = [];
  #characters = 0;
  #rowCount = 0;

  /** Collects rows into batches. @param send function that passes a batch on; `add` waits for its promise. */
  constructor(maxRows: number, send: (batch: StagedBatch) => Promise<void>) {
    this.#maxRows = maxRows;
    this.#send = send;
  }

  /** @throws {DocumentRefusal} too_large when the document has too many rows. */
  async add(kind: ListName, place: string, pathOf: (member: string) => string, value: unknown): Promise<void> {
    this.#rowCount += 1;
    this.#counts[kind] += 1;
    if (this.#rowCount > this.#maxRows)
      throw new DocumentRefusal('too_large', `the document must have at most ${this.#maxRows} rows in total, got more`);
    this.#noteIgnored(kind, value);
    const result = parseListed(kind, place, pathOf, value);
    if ('problems' in result) this.#problems.push(...result.problems);
    else {
      this.#rows.push(result);
      this.#characters += result.members.length + (result.calculated?.length ?? 0);
    }
    const isFull = this.#rows.length + this.#problems.length >= MAX_BATCH_ROWS;
    if (isFull || this.#characters >= MAX_BATCH_CHARACTERS) await this.flush();
  }

  async flush(): Promise<void> {
    const [rows, problems] = [this.#rows, this.#problems];
    [this.#rows, this.#problems, this.#characters] = [[], [], 0];
    await this.#send({ rows, problems, rowCount: this.#rowCount, bytes: this.bytes });
  }

  summary(): Omit<DocumentNote, 'columns'> {
    return { ignored: [...this.#ignored], counts: this.#counts };
  }

  #noteIgnored(kind: ListName, value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    for (const name of Object.keys(value)) {
      if (this.#ignored.size >= MAX_IGNORED) return;
      if (!KNOWN[kind].has(name.toLowerCase())) this.#ignored.add(`${kind}.${name.slice(0, 100)}`);
    }
  }
}

function parseListed(kind: ListName, place: string, pathOf: (member: string) => string, value: unknown) {
  try {
    if (kind === 'catalogues') return parseEntryRow(place, pathOf, value);
    return kind === 'forms' ? parseFormRow(place, pathOf, value) : parseRow(kind, place, pathOf, value);
  } catch (error) {
    throw toRefusal(error, place) ?? error;
  }
}

/**
 * @param name name of a list or sheet, in upper or lower case.
 * @returns the kind with this name; undefined when no kind has it. For `variables 2`, which continues the sheet
 * `variables`, the kind is `variables`.
 */
export function kindCalled(name: string): ListName | undefined {
  const plain = name.trim().toLowerCase().replace(/ \d+$/, '');
  return LIST_NAMES.find((kind) => kind === plain);
}
