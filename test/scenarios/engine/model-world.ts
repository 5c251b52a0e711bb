/** Plays scenarios in the model: computes expected results from the rules alone. */
import { aggregate } from '../../support/models/bucket-model.ts';
import { copyOf, pushedEntries, storedOutput, type VariableEntry } from '../../support/models/model-entries.ts';
import {
  addVersion,
  choose,
  isWithin,
  limitVersions,
  listVersions,
  type ModelVersion,
  withoutRepeats,
} from '../../support/models/version-model.ts';
import { resolveChoice } from './choices.ts';
import type { Action, Moment, Query, ScriptOutput } from './syntax.ts';
import { openSpans, paged, type Row, type World } from './world.ts';

interface ModelVariable {
  readonly isVersioned: boolean;
  readonly limit: number | null;
  readonly versions: readonly ModelVersion[];
  /** Greatest VersionTimestamp assigned to the variable. */
  readonly lastMicros: number;
}

const DEFAULT_LIMIT = 7;
const NEVER_CUT = { isVersioned: true, limit: Number.POSITIVE_INFINITY };
const NO_LABELS = { version: null, tags: {}, versionMicros: null };

function isSameDate(a: VariableEntry, b: VariableEntry): boolean {
  return a.variable === b.variable && a.dateMicros === b.dateMicros;
}

/**
 * @param nowMicros clock that gives the instant of a write without an explicit instant.
 * @param isNeverCut when true, no version is removed: neither by a version limit, nor by a purge, nor by a write to an
 * unversioned variable (R-F9).
 */
export function openModelWorld(nowMicros: () => number = () => Date.now() * 1000, isNeverCut = false): World {
  const variables = new Map<string, ModelVariable>();
  const spans = openSpans();
  let accountLimit = DEFAULT_LIMIT;

  const get = (name: string): ModelVariable => {
    const variable = variables.get(name);
    if (!variable) throw new Error(`no variable ${name}`);
    return variable;
  };
  const change = (name: string, changes: Partial<ModelVariable>) => variables.set(name, { ...get(name), ...changes });
  const limitOf = ({ limit }: ModelVariable) => limit ?? accountLimit;

  /**
   * Writes the rows of push bodies, except rows that a later row replaces. Each VersionTimestamp is later than all
   * VersionTimestamps of earlier writes to the variable (R-F1).
   */
  const write = (bodies: readonly (readonly VariableEntry[])[], moment: Moment | undefined): void => {
    const entries = bodies.flat();
    const clock = moment?.kind === 'instant' ? moment.micros : nowMicros();
    const firstOf = new Map(entries.map(({ variable }) => [variable, Math.max(clock, get(variable).lastMicros + 1)]));
    const kept = entries.filter((entry, index) => !entries.slice(index + 1).some((later) => replaces(later, entry)));
    const stamps = kept.map((entry, index) => {
      const earlier = kept.slice(0, index).filter((other) => isSameDate(other, entry));
      return (firstOf.get(entry.variable) ?? 0) + earlier.length;
    });
    for (const [index, { variable: name, ...entry }] of kept.entries()) {
      const variable = get(name);
      const versionMicros = stamps[index] ?? 0;
      const { isVersioned } = variable;
      const settings = isNeverCut ? NEVER_CUT : { isVersioned, limit: limitOf(variable) };
      const version = isVersioned ? entry.version : null;
      change(name, {
        versions: addVersion(variable.versions, { ...entry, version, versionMicros }, settings),
        lastMicros: Math.max(variable.lastMicros, versionMicros),
      });
    }
    if (stamps.length > 0) spans.add(moment, { firstMicros: Math.min(...stamps), lastMicros: Math.max(...stamps) });
  };
  const replaces = (later: VariableEntry, entry: VariableEntry): boolean => {
    const isOfTag = later.version === entry.version && later.version !== null;
    return isSameDate(later, entry) && (isOfTag || !get(entry.variable).isVersioned);
  };

  const calculate = (name: string, atMicros: number, output: ScriptOutput): void => {
    const entries = storedOutput(output, get(name).isVersioned, atMicros);
    const repeatless = withoutRepeats(entries.map((entry) => ({ ...entry, variable: name })));
    write([repeatless], { kind: 'instant', micros: atMicros });
  };

  const act = (action: Action): void => {
    switch (action.kind) {
      case 'account-limit':
        accountLimit = action.limit;
        return;
      case 'variable': {
        const { isVersioned, limit } = action;
        variables.set(action.variable, { isVersioned, limit, versions: [], lastMicros: Number.NEGATIVE_INFINITY });
        return;
      }
      case 'toggle':
        change(action.variable, { isVersioned: action.isVersioned });
        return;
      case 'limit':
        change(action.variable, { limit: action.limit });
        return;
      case 'write':
        write(
          action.bodies.map((body) => withoutRepeats(pushedEntries(body))),
          action.moment,
        );
        return;
      case 'calculate':
        calculate(action.variable, action.atMicros, action.output);
        return;
      case 'copy':
        calculate(action.variable, action.atMicros, copyOf(choose(get(action.input).versions, { isEvery: false })));
        return;
      case 'purge':
        for (const name of action.variables) {
          const variable = get(name);
          if (!variable.isVersioned || isNeverCut) continue;
          change(name, { versions: limitVersions(variable.versions, limitOf(variable)) });
        }
    }
  };

  const rowsOf = (query: Query): readonly Row[] =>
    query.variables.flatMap((name) => {
      const within = get(name).versions.filter(({ dateMicros }) => isWithin(query, dateMicros));
      const chosen = choose(within, resolveChoice(query.choice, spans));
      const rows: Row[] = query.aggregation
        ? aggregate(chosen, query.aggregation, query).map((bucket) => ({ ...bucket, ...NO_LABELS, variable: name }))
        : chosen.map((version) => ({ ...version, variable: name }));
      return paged(query, query.order === 'desc' ? rows.reverse() : rows);
    });

  return {
    perform: async (action) => act(action),
    read: async (query) => rowsOf(query),
    count: async (query) => rowsOf(query).length,
    versions: async (name) => listVersions(get(name).versions),
    remove: async (name, period, isWhatIf) => {
      const { versions } = get(name);
      const gone = versions.filter(({ dateMicros }) => isWithin(period, dateMicros));
      if (!isWhatIf) change(name, { versions: versions.filter((version) => !gone.includes(version)) });
      return new Set(gone.map(({ dateMicros }) => dateMicros)).size;
    },
    spanOf: (label) => spans.get(label),
  };
}
