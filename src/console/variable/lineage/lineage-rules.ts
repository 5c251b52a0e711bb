/** Lays out a lineage: the traced version on the left, and the children of each node to its right. Pure. */

/** A state (points of a variable as of a VersionTimestamp), or a run, push or file that wrote at a VersionTimestamp. */
export interface LineageNode {
  readonly kind: 'state' | 'run' | 'origin';
  readonly title: string;
  readonly details: readonly string[];
  /** Path of the node's page in the console; undefined when there is no page that the user may open. */
  readonly href: string | undefined;
  readonly children: readonly LineageNode[];
}

export const NODE_WIDTH = 240;
const GAP_X = 48;
const GAP_Y = 14;
const LINE_HEIGHT = 16;
const PADDING = 22;

export interface PlacedNode {
  readonly node: LineageNode;
  /** 1 for the traced version; for any other node, 1 plus the level of the node's parent. */
  readonly level: number;
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

export interface PlacedEdge {
  readonly from: PlacedNode;
  readonly to: PlacedNode;
}

export interface Placed {
  /** Each node precedes its children. */
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly width: number;
  readonly height: number;
}

/**
 * Stacks the leaves, one below another. Places a node with children beside the middle of its children. A node moves
 * down when this place is above the upper edge or beside an earlier branch.
 */
export function placeLineage(root: LineageNode): Placed {
  const nodes: PlacedNode[] = [];
  const edges: PlacedEdge[] = [];
  let bottom = 0;
  const place = (node: LineageNode, level: number): PlacedNode => {
    const at = nodes.length;
    const height = PADDING + (1 + node.details.length) * LINE_HEIGHT;
    const top = bottom;
    nodes.push({ node, level, x: 0, y: 0, height });
    const children = node.children.map((child) => place(child, level + 1));
    const [first, last] = [children[0], children.at(-1)];
    const y = first && last ? Math.max(top, (first.y + last.y + last.height - height) / 2) : top;
    const placed = { node, level, x: (level - 1) * (NODE_WIDTH + GAP_X), y, height };
    nodes[at] = placed;
    for (const child of children) edges.push({ from: placed, to: child });
    bottom = Math.max(bottom, y + height + GAP_Y);
    return placed;
  };
  place(root, 1);
  const width = Math.max(...nodes.map(({ x }) => x)) + NODE_WIDTH;
  return { nodes, edges, width, height: bottom - GAP_Y };
}
