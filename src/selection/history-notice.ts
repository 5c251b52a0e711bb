/** Says in an answer from which instant the states of its variables are complete (R-F9). REST and gRPC share the text. */
import { formatInstant } from '../platform/dates/instant-rules.ts';
import type { HistoryCut, NoteCuts } from '../points/read/history-cuts.ts';

/** Header of REST answers, and metadata of gRPC answers in lower case. */
export const HISTORY_HEADER = 'History-From';

/** Keeps the header below 2 KiB; proxies commonly allow 4 KiB for all headers of an answer. */
const MAX_VARIABLES = 40;

/**
 * Value of the header: a list of instants, latest first, each with its variable as parameter; the last item may stand for the
 * rest.
 */
export const HISTORY_RULE = `For a read of past states: the instants from which the states of variables are complete, when versions known earlier were cut. A list, latest first, such as \`2026-03-01T00:00:00Z;variableId=12\`; after ${MAX_VARIABLES} variables, one item with the parameter \`others\` counts the rest and has their latest instant.`;

/** The cuts of history that concern one answer, latest first. They are known before its first row. */
export interface HistoryNotice {
  readonly cuts: readonly HistoryCut[];
}

/** @returns a notice to fill: `note` receives the cuts of the read. */
export function openNotice(): HistoryNotice & { readonly note: NoteCuts } {
  const notice = {
    cuts: [] as readonly HistoryCut[],
    note: (cuts: readonly HistoryCut[]): void => {
      notice.cuts = cuts;
    },
  };
  return notice;
}

/** @returns the value of the header; undefined when every state read is complete (R-F9). */
export function historyHeader({ cuts }: HistoryNotice): string | undefined {
  if (cuts.length === 0) return undefined;
  const items = cuts.slice(0, MAX_VARIABLES).map(({ variableId, historyFromMicros }) => {
    return `${formatInstant(historyFromMicros)};variableId=${variableId}`;
  });
  const next = cuts[MAX_VARIABLES];
  const others = next && `${formatInstant(next.historyFromMicros)};others=${cuts.length - MAX_VARIABLES}`;
  return [...items, ...(others === undefined ? [] : [others])].join(', ');
}

const METADATA_KEY = 'historyFrom';

/** @returns the metadata of an Arrow schema: `historyFrom` is a JSON object of instants by variable id (R-F9). */
export function historyMetadata({ cuts }: HistoryNotice): ReadonlyMap<string, string> {
  if (cuts.length === 0) return new Map();
  const byId = cuts.map(({ variableId, historyFromMicros }) => [variableId, formatInstant(historyFromMicros)]);
  return new Map([[METADATA_KEY, JSON.stringify(Object.fromEntries(byId))]]);
}
