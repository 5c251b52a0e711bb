/** Keeps the draft of a correction in session storage, so that the draft survives a reload of the page. */
import type { Range } from '../chart-rules.ts';
import type { Edits } from './correction-rules.ts';

export interface Draft {
  readonly range: Range | undefined;
  readonly edits: Edits;
  readonly label: string;
  readonly note: string;
}

const keyOf = (variableId: number) => `tidemark.correction.${variableId}`;

/** @returns the stored draft; undefined when no draft is stored or the stored text cannot be read. */
export function readDraft(variableId: number): Draft | undefined {
  const text = sessionStorage.getItem(keyOf(variableId));
  if (text === null) return undefined;
  try {
    const { edits, ...rest } = JSON.parse(text) as Omit<Draft, 'edits'> & { readonly edits: [number, number][] };
    return { ...rest, edits: new Map(edits) };
  } catch {
    return undefined;
  }
}

/**
 * Stores the draft of a correction.
 * @param draft the new draft; undefined removes the stored draft.
 */
export function keepDraft(variableId: number, draft: Draft | undefined): void {
  if (!draft) sessionStorage.removeItem(keyOf(variableId));
  else sessionStorage.setItem(keyOf(variableId), JSON.stringify({ ...draft, edits: [...draft.edits] }));
}
