/**
 * Builds two headers of REST and gRPC answers, and the metadata of an Arrow schema with the same facts:
 * - History-From: instant from which the states of a variable are complete (R-F9)
 * - Raw-From: date from which all points of a variable are stored (retention)
 */
import { formatInstant } from '../platform/dates/instant-rules.ts';
import type { HistoryCut, NoteCuts } from '../points/read/history-cuts.ts';
import type { RawBoundary } from '../points/rollups/find-rolled-up.ts';

/** Names of headers in REST answers. In gRPC answers, the same names in lower case are keys of the metadata. */
export const HISTORY_HEADER = 'History-From';
export const RAW_HEADER = 'Raw-From';

/**
 * Maximum number of variables that a header names. A header that names this many variables is about 2 KiB long; proxies
 * commonly allow 4 KiB for all headers of an answer.
 */
const MAX_VARIABLES = 40;

/** Describes the header HISTORY_HEADER to clients. */
export const HISTORY_RULE = `Sent when a read of past states covers variables whose old versions were deleted. Lists, for each of these variables, the instant from which its states are complete, such as \`2026-03-01T00:00:00Z;variableId=12\`. The items are sorted by instant, latest first. At most ${MAX_VARIABLES} variables are named. If there are more, one last item stands for the remaining variables, such as \`2026-01-01T00:00:00Z;others=3\`: \`others\` is their number, and the instant is the latest of theirs.`;

export const RAW_RULE = `Sent when a read covers dates at which retention has replaced points with rollups. Has the form of \`${HISTORY_HEADER}\` and lists, for each variable, the date from which all points are stored. The replaced points are missing from the answer. Aggregates include them through their rollups, except when the read selects by VersionTag or tags, or reads every version.`;

/**
 * The history cuts and rollups that concern one answer, latest first. They are known before the first row of the
 * answer.
 */
export interface HistoryNotice {
  readonly cuts: readonly HistoryCut[];
  readonly rolledUp: readonly RawBoundary[];
}

/** @returns an empty notice. Its function `note` is called when the points are read, and fills the notice. */
export function openNotice(): HistoryNotice & { readonly note: NoteCuts } {
  const notice = {
    cuts: [] as readonly HistoryCut[],
    rolledUp: [] as readonly RawBoundary[],
    note: (cuts: readonly HistoryCut[], rolledUp: readonly RawBoundary[]): void => {
      notice.cuts = cuts;
      notice.rolledUp = rolledUp;
    },
  };
  return notice;
}

/** @returns the headers of a notice; none when everything that the read asks for is still stored (R-F9). */
export function noticeHeaders({ cuts, rolledUp }: HistoryNotice): readonly (readonly [name: string, value: string])[] {
  const history = listOf(cuts.map(({ variableId, historyFromMicros }) => ({ variableId, micros: historyFromMicros })));
  const raw = listOf(rolledUp.map(({ variableId, rawFromMicros }) => ({ variableId, micros: rawFromMicros })));
  return [
    ...(history === undefined ? [] : [[HISTORY_HEADER, history] as const]),
    ...(raw === undefined ? [] : [[RAW_HEADER, raw] as const]),
  ];
}

interface Item {
  readonly variableId: number;
  readonly micros: number;
}

function listOf(instants: readonly Item[]): string | undefined {
  if (instants.length === 0) return undefined;
  const items = instants.slice(0, MAX_VARIABLES).map(({ variableId, micros }) => {
    return `${formatInstant(micros)};variableId=${variableId}`;
  });
  const next = instants[MAX_VARIABLES];
  const others = next && `${formatInstant(next.micros)};others=${instants.length - MAX_VARIABLES}`;
  return [...items, ...(others === undefined ? [] : [others])].join(', ');
}

/**
 * @returns the metadata of an Arrow schema: `historyFrom` and `rawFrom` are JSON objects that map each variable id to
 * an instant (R-F9).
 */
export function historyMetadata({ cuts, rolledUp }: HistoryNotice): ReadonlyMap<string, string> {
  const metadata = new Map<string, string>();
  const put = (name: string, entries: readonly (readonly [number, number])[]): void => {
    const texts = entries.map(([variableId, micros]) => [variableId, formatInstant(micros)]);
    if (texts.length > 0) metadata.set(name, JSON.stringify(Object.fromEntries(texts)));
  };
  put(
    'historyFrom',
    cuts.map(({ variableId, historyFromMicros }) => [variableId, historyFromMicros]),
  );
  put(
    'rawFrom',
    rolledUp.map(({ variableId, rawFromMicros }) => [variableId, rawFromMicros]),
  );
  return metadata;
}
