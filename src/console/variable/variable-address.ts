/**
 * Reads and writes the URL of a variable's page. The URL contains the period, the selection of versions, the further
 * variables and the point, so that a user can share what the page shows. Pure.
 */
import type { Selection } from './chart-rules.ts';

/** Maximum number of variables that a chart shows besides the page's own variable. A chart has six colours. */
export const MAX_OTHERS = 5;

export interface VariableSearch {
  /** Start of the chart's period, as an ISO 8601 text. A URL has both `from` and `to`, or neither. */
  readonly from?: string;
  readonly to?: string;
  readonly v?: 'labels' | 'known' | 'compare';
  readonly labels?: readonly string[];
  /** Used when `v` is `known`: the chart shows what was known at this instant. */
  readonly at?: string;
  /** Used when `v` is `compare`: `left` and `right` are the versions on the two sides of the comparison. */
  readonly left?: string;
  readonly right?: string;
  /** Ids of further variables in the chart. */
  readonly with?: readonly number[];
  /** Date of the point whose versions the page lists. */
  readonly point?: string;
}

const KINDS = ['labels', 'known', 'compare'] as const;

/** Keeps the valid parameters of a URL and drops the others. */
export function parseSearch(given: Readonly<Record<string, unknown>>): VariableSearch {
  const texts = Object.fromEntries(
    ['at', 'left', 'right'].flatMap((name) => {
      const text = given[name];
      return typeof text !== 'string' || (name === 'at' && Number.isNaN(Date.parse(text))) ? [] : [[name, text]];
    }),
  );
  const [from, to, point] = [given.from, given.to, given.point].map(toInstantText);
  const kind = KINDS.find((each) => each === given.v);
  const others = Array.isArray(given.with) ? given.with.map(Number).filter((id) => Number.isInteger(id) && id > 0) : [];
  const labels = Array.isArray(given.labels) ? given.labels.map(String) : undefined;
  return {
    ...texts,
    ...(from !== undefined && to !== undefined && from < to && { from, to }),
    ...(point !== undefined && { point }),
    ...(kind && { v: kind }),
    ...(labels && { labels }),
    ...(others.length > 0 && { with: [...new Set(others)].slice(0, MAX_OTHERS) }),
  };
}

function toInstantText(value: unknown): string | undefined {
  const millis = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(millis) ? undefined : new Date(millis).toISOString();
}

/** @returns the selection of versions that the URL describes. */
export function toSelection({ v, labels = [], at, left = 'latest', right = 'latest' }: VariableSearch): Selection {
  switch (v) {
    case 'labels':
      return { kind: v, labels };
    case 'known':
      return { kind: v, at };
    case 'compare':
      return { kind: v, left, right };
    default:
      return { kind: 'latest' };
  }
}

/** @returns the parameters of `old` with the given selection of versions; period, point and further variables stay. */
export function toSearch(old: VariableSearch, selection: Selection): VariableSearch {
  const { from, to, point, with: others } = old;
  const kept = {
    ...(from !== undefined && to !== undefined && { from, to }),
    ...(point !== undefined && { point }),
    ...(others !== undefined && { with: others }),
  };
  switch (selection.kind) {
    case 'latest':
      return kept;
    case 'labels':
      return { ...kept, v: 'labels', labels: selection.labels };
    case 'known':
      return { ...kept, v: 'known', ...(selection.at !== undefined && { at: selection.at }) };
    case 'compare':
      return { ...kept, v: 'compare', left: selection.left, right: selection.right };
  }
}
