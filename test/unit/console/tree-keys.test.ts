/** Keyboard navigation in a tree, as the WAI-ARIA pattern for trees describes it. */
import { expect, test } from 'vitest';
import { nextStep, type TreeNode } from '../../../src/console/find/tree-keys.ts';

const ROWS: readonly TreeNode[] = [
  { depth: 0, isOpen: true }, // Row 0: an open site
  { depth: 1, isOpen: true }, // Row 1: an open source of the site in row 0
  { depth: 2 }, // Rows 2 and 3: variables of the source in row 1
  { depth: 2 },
  { depth: 1, isOpen: false }, // Row 4: a closed source of the site in row 0
  { depth: 0, isOpen: false }, // Row 5: a closed site
];

test.each([
  ['ArrowRight', 'a closed site', 5, 'opens it', { kind: 'toggle' }],
  ['ArrowRight', 'an open source', 1, 'moves to its first variable', { kind: 'move', index: 2 }],
  ['ArrowRight', 'a variable', 3, 'stays on the row', { kind: 'move', index: 3 }],
  ['ArrowLeft', 'an open source', 1, 'closes it', { kind: 'toggle' }],
  ['ArrowLeft', 'a closed source', 4, 'moves to its site', { kind: 'move', index: 0 }],
  ['ArrowLeft', 'a variable', 3, 'moves to its source', { kind: 'move', index: 1 }],
  ['ArrowLeft', 'a closed site', 5, 'stays on the row', { kind: 'move', index: 5 }],
  ['Home', 'a variable', 3, 'moves to the first row', { kind: 'move', index: 0 }],
  ['End', 'a variable', 3, 'moves to the last row', { kind: 'move', index: 5 }],
  ['ArrowDown', 'a variable', 3, 'moves to the next row', { kind: 'move', index: 4 }],
  ['ArrowUp', 'a source', 4, 'moves to the previous row', { kind: 'move', index: 3 }],
  ['Enter', 'a variable', 3, 'chooses it', { kind: 'choose' }],
  [' ', 'a variable', 3, 'chooses it', { kind: 'choose' }],
  ['a', 'a variable', 3, 'does nothing', undefined],
])(
  'console find: when the user presses the key "%s" on %s (row %i of the tree), the console %s',
  (key, _row, active, _effect, step) => {
    expect(nextStep(key, ROWS, active)).toEqual(step);
  },
);
