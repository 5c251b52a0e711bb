/** Places the variables of a wave in the columns of a graph. Pure. */
import type { components } from '../../api/openapi.d.ts';

type Wave = components['schemas']['Wave'];

export type WaveNode = Wave['nodes'][number];

export interface PlacedNode {
  readonly node: WaveNode;
  readonly column: number;
  readonly row: number;
}

export interface Placed {
  readonly nodes: readonly PlacedNode[];
  readonly columns: number;
  /** Number of variables in the longest column of the graph. */
  readonly rows: number;
}

/**
 * Places each variable one column to the right of its rightmost cause. After inputs were edited, the
 * causes can form a loop: the search for causes then stops at a variable that it has already visited.
 */
export function placeWave({ nodes, edges }: Wave): Placed {
  const causes = new Map<number, number[]>();
  for (const { from, to } of edges) causes.set(to, [...(causes.get(to) ?? []), from]);
  const columns = new Map<number, number>();
  const columnOf = (id: number, path: ReadonlySet<number>): number => {
    const known = columns.get(id);
    if (known !== undefined) return known;
    if (path.has(id)) return 0;
    const before = (causes.get(id) ?? []).map((from) => columnOf(from, new Set([...path, id])));
    const column = before.length === 0 ? 0 : Math.max(...before) + 1;
    columns.set(id, column);
    return column;
  };
  const counts: number[] = [];
  const placed = [...nodes]
    .sort((a, b) => a.name.localeCompare(b.name))
    .map((node) => {
      const column = columnOf(node.variableId, new Set());
      const row = counts[column] ?? 0;
      counts[column] = row + 1;
      return { node, column, row };
    });
  return { nodes: placed, columns: counts.length, rows: Math.max(0, ...[...counts].map((count) => count ?? 0)) };
}
