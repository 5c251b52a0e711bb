/**
 * Drafts hold unsaved work in local storage, so that the work survives a reload. A draft stays there until the user
 * saves or discards the work.
 */
import { useCallback, useState } from 'react';
import { useSession } from '../session/session.tsx';

const PREFIX = 'tidemark.draft.';

/** @returns the draft, or undefined when there is none or it cannot be read. */
export function readDraft<Value>(key: string): Value | undefined {
  try {
    const text = localStorage.getItem(PREFIX + key);
    return text === null ? undefined : (JSON.parse(text) as Value);
  } catch {
    return undefined;
  }
}

/** Stores a draft; undefined removes it. When the browser cannot store the draft, only the open page has it. */
export function writeDraft(key: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // A private window may refuse to store, or the storage is full.
  }
}

/** @returns the key with which `readDraft` finds the draft that `useDraft` stored for an account. */
export function draftKey(accountId: number | undefined, key: string): string {
  return `${accountId}.${key}`;
}

/**
 * Keeps state that survives a reload, separately for each account. When the key changes, remount the component.
 * @returns the value, a setter, and the function `drop(next = saved)`, which removes the draft and sets the value to
 * `next`.
 */
export function useDraft<Value>(key: string, saved: Value) {
  const name = draftKey(useSession().accountId, key);
  const [value, setValue] = useState(() => readDraft<Value>(name) ?? saved);
  const change = useCallback(
    (next: Value) => {
      setValue(next);
      writeDraft(name, next);
    },
    [name],
  );
  const drop = useCallback(
    (next: Value = saved) => {
      setValue(next);
      writeDraft(name, undefined);
    },
    [name, saved],
  );
  return [value, change, drop] as const;
}
