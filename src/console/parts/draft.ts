/** Unsaved work that survives a reload: kept in this browser until it is saved or dropped. */
import { useCallback, useState } from 'react';

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

/** Keeps a draft; undefined removes it. A full storage keeps the work in the page only. */
export function writeDraft(key: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // A private window or a full storage.
  }
}

/**
 * State that survives a reload. A component that changes its key must be mounted anew.
 * @returns the value, a setter, and a function that returns to the saved value and removes the draft.
 */
export function useDraft<Value>(key: string, saved: Value) {
  const [value, setValue] = useState(() => readDraft<Value>(key) ?? saved);
  const change = useCallback(
    (next: Value) => {
      setValue(next);
      writeDraft(key, next);
    },
    [key],
  );
  const drop = useCallback(
    (next: Value = saved) => {
      setValue(next);
      writeDraft(key, undefined);
    },
    [key, saved],
  );
  return [value, change, drop] as const;
}
