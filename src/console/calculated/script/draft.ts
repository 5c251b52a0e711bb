/** The unsaved declaration of a variable, kept in this browser so that it survives a reload. */
import { useState } from 'react';
import { type Declaration, isSame } from '../declaration.ts';

interface Draft {
  /** The saved declaration as it was when the draft began, or when `restore` last replaced the draft. */
  readonly base: Declaration;
  readonly declaration: Declaration;
  readonly note: string;
}

export interface DraftState {
  readonly declaration: Declaration;
  readonly note: string;
  readonly isChanged: boolean;
  /** Whether the saved declaration differs from the draft and from the draft's `base`. */
  readonly isOutdated: boolean;
  change(declaration: Declaration): void;
  setNote(note: string): void;
  /** Puts a declaration and a note into the draft. */
  restore(declaration: Declaration, note: string): void;
  /** Discards the draft; the editor shows the saved declaration again. */
  drop(): void;
}

/**
 * @param key string that identifies the account and the variable.
 * @param saved the declaration that the service stores at present.
 */
export function useDraftDeclaration(key: string, saved: Declaration): DraftState {
  const name = `tidemark.script.${key}`;
  const [draft, setDraft] = useState<Draft | undefined>(() => read(name));
  const keep = (next: Draft | undefined) => {
    setDraft(next);
    write(name, next);
  };
  const { base, declaration, note } = draft ?? { base: saved, declaration: saved, note: '' };
  return {
    ...{ declaration, note },
    isChanged: !isSame(declaration, saved),
    isOutdated: !isSame(base, saved) && !isSame(declaration, saved),
    change: (next) => keep({ base, declaration: next, note }),
    setNote: (next) => keep({ base, declaration, note: next }),
    restore: (next, why) => keep({ base: saved, declaration: next, note: why }),
    drop: () => keep(undefined),
  };
}

function read(name: string): Draft | undefined {
  try {
    const text = localStorage.getItem(name);
    return text === null ? undefined : (JSON.parse(text) as Draft);
  } catch {
    return undefined;
  }
}

function write(name: string, draft: Draft | undefined): void {
  try {
    if (draft) localStorage.setItem(name, JSON.stringify(draft));
    else localStorage.removeItem(name);
  } catch {
    // The storage is full or refused: only the page has the draft.
  }
}
