/** Keyboard navigation in a tree that is shown as a flat list of rows. Pure. */

/** A row of the tree. */
export interface TreeNode {
  readonly depth: number;
  /** True when the row is open, false when it is closed; absent for a row that cannot have children. */
  readonly isOpen?: boolean;
}

/** What the tree does when the user presses a key. */
export type Step =
  | { readonly kind: 'choose' }
  | { readonly kind: 'toggle' }
  /** Moves to the row `index`; below 0 to the first row, beyond the last row to the last. */
  | { readonly kind: 'move'; readonly index: number };

/**
 * @returns what a key does, as WAI-ARIA defines it for trees: for example, the left arrow closes an open node, and
 * moves from any other node to its parent, if it has one. Undefined for a key that the tree does not use.
 */
export function nextStep(key: string, rows: readonly TreeNode[], active: number): Step | undefined {
  const row = rows[active];
  const isOpen = row?.isOpen === true;
  const isClosed = row?.isOpen === false;
  switch (key) {
    case 'ArrowDown':
      return { kind: 'move', index: active + 1 };
    case 'ArrowUp':
      return { kind: 'move', index: active - 1 };
    case 'Home':
      return { kind: 'move', index: 0 };
    case 'End':
      return { kind: 'move', index: rows.length - 1 };
    case 'ArrowRight':
      return isClosed ? { kind: 'toggle' } : { kind: 'move', index: isOpen ? active + 1 : active };
    case 'ArrowLeft':
      return isOpen ? { kind: 'toggle' } : { kind: 'move', index: parentOf(rows, active) };
    case 'Enter':
    case ' ':
      return { kind: 'choose' };
    default:
      return undefined;
  }
}

function parentOf(rows: readonly TreeNode[], index: number): number {
  const depth = rows[index]?.depth ?? 0;
  for (let at = index - 1; at >= 0; at--) if ((rows[at]?.depth ?? 0) < depth) return at;
  return index;
}
