/** First look at the rows of a write: what each variable gets, and its VersionTimestamp put into every row. */

import {
  clearVersionTag,
  eachTuple,
  patchVersionTimestamp,
  toVersionStamp,
  type VersionStamp,
  versionTagIdOf,
} from '../copy-codec.ts';
import type { Micros } from '../point.ts';

/** Write state and settings of a variable, locked by the writer. */
export interface Series {
  readonly variableId: number;
  readonly accountId: number;
  readonly isVersioned: boolean;
  /** Versions kept per date, of the tagged and of the untagged ones each (R-F3). */
  readonly versionLimit: number;
  /** High-water mark: no stored date is later; -Infinity when none is stored. */
  readonly maxDateMicros: Micros;
  /** Greatest VersionTimestamp given; -Infinity when none was. */
  readonly lastVersionTimestamp: Micros;
  /** False: `point_version` holds nothing of it. */
  readonly hasHistory: boolean;
  /** Greatest VersionTag id written: a greater one replaces nothing. */
  readonly lastVersionTagId: number;
  /** No date has more versions of one kind, tagged or untagged. */
  readonly versionBound: number;
}

/** Rows of one variable in a write. */
export interface VariableSurvey {
  readonly series: Series;
  /** Of the first row of every date. */
  readonly versionTimestamp: Micros;
  readonly stamp: VersionStamp;
  count: number;
  fromMicros: Micros;
  toMicros: Micros;
  /** Date of the row looked at last. */
  lastMicros: Micros;
  /** Whether the dates strictly ascend: then none is repeated. */
  isOrdered: boolean;
  maxVersionTagId: number;
}

export interface Survey {
  /** Known variables with rows. */
  readonly variables: ReadonlyMap<number, VariableSurvey>;
  readonly hasUnknown: boolean;
}

/**
 * Gives every row of a known variable its VersionTimestamp, in place: `now`, but never at or before one its variable has
 * had (R-F1), whatever others had. A variable that is not versioned keeps no VersionTag (R-F4).
 */
export function surveyRows(batches: readonly Buffer[], series: ReadonlyMap<number, Series>, now: Micros): Survey {
  const variables = new Map<number, VariableSurvey>();
  let hasUnknown = false;
  let variable: VariableSurvey | undefined;
  let lastId: number | undefined;
  for (const tuples of batches) {
    eachTuple(tuples, (variableId, dateMicros, offset) => {
      if (variableId !== lastId) {
        lastId = variableId;
        variable = variables.get(variableId) ?? begin(variables, series.get(variableId), now);
      }
      if (!variable) {
        hasUnknown = true;
        return;
      }
      note(variable, dateMicros);
      noteVersionTag(variable, tuples, offset);
      patchVersionTimestamp(tuples, offset, variable.stamp);
    });
  }
  return { variables, hasUnknown };
}

function begin(
  variables: Map<number, VariableSurvey>,
  series: Series | undefined,
  now: Micros,
): VariableSurvey | undefined {
  if (!series) return undefined;
  const versionTimestamp = Math.max(now, series.lastVersionTimestamp + 1);
  const variable: VariableSurvey = {
    series,
    versionTimestamp,
    stamp: toVersionStamp(versionTimestamp),
    count: 0,
    fromMicros: Number.POSITIVE_INFINITY,
    toMicros: Number.NEGATIVE_INFINITY,
    lastMicros: Number.NEGATIVE_INFINITY,
    isOrdered: true,
    maxVersionTagId: 0,
  };
  variables.set(series.variableId, variable);
  return variable;
}

function note(variable: VariableSurvey, dateMicros: Micros): void {
  if (dateMicros <= variable.lastMicros) variable.isOrdered = false;
  variable.lastMicros = dateMicros;
  if (dateMicros < variable.fromMicros) variable.fromMicros = dateMicros;
  if (dateMicros > variable.toMicros) variable.toMicros = dateMicros;
  variable.count += 1;
}

function noteVersionTag(variable: VariableSurvey, tuples: Buffer, offset: number): void {
  const versionTagId = versionTagIdOf(tuples, offset);
  if (versionTagId === 0) return;
  if (!variable.series.isVersioned) clearVersionTag(tuples, offset);
  else if (versionTagId > variable.maxVersionTagId) variable.maxVersionTagId = versionTagId;
}
