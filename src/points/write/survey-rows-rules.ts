/**
 * First pass of `planWrite` over the rows: summarizes the rows of each variable, sets the VersionTimestamps of the
 * rows, and clears the VersionTags of variables that are not versioned.
 */

import {
  clearVersionTag,
  eachTuple,
  patchVersionTimestamp,
  toVersionStamp,
  type VersionStamp,
  versionTagIdOf,
} from '../copy-codec.ts';
import type { Micros } from '../point.ts';

/** A locked variable: its settings, and its write state (table `series`). */
export interface Series {
  readonly variableId: number;
  readonly accountId: number;
  readonly isVersioned: boolean;
  /** Maximum number of tagged and of untagged versions per date, counted separately (R-F3). */
  readonly versionLimit: number;
  /** High-water mark: no stored date is later. -Infinity: no point is stored. */
  readonly maxDateMicros: Micros;
  /** Greatest assigned VersionTimestamp; -Infinity when none was assigned. */
  readonly lastVersionTimestamp: Micros;
  /** True when the table `point_version` may have rows of the variable; false when the table certainly has none. */
  readonly hasHistory: boolean;
  /** No stored version of the variable has a VersionTag id greater than this number. */
  readonly lastVersionTagId: number;
  /** Each date has at most this number of tagged versions, and at most this number of untagged versions. */
  readonly versionBound: number;
  /** True when some past states may be incomplete (R-F9): `series.history_from` is not null. */
  readonly isHistoryCut: boolean;
  /**
   * Every date that is rolled up is before this instant. A date before this instant need not be rolled up (see
   * `refuseRolledUp`). Absent or null means that no date is rolled up.
   */
  readonly rolledUntilMicros?: Micros | null;
}

/** Summary of the rows that a write has for one variable. */
export interface VariableSurvey {
  readonly series: Series;
  /**
   * VersionTimestamp of the first row kept at each date. `settleRows` adds one microsecond for each further row kept at
   * the same date.
   */
  readonly versionTimestamp: Micros;
  readonly stamp: VersionStamp;
  count: number;
  fromMicros: Micros;
  toMicros: Micros;
  /** Date of the last row that was visited. */
  lastMicros: Micros;
  /** True while each date is later than the date of the row before it. No date then occurs twice. */
  isOrdered: boolean;
  maxVersionTagId: number;
}

export interface Survey {
  /** The survey of each existing variable that has rows in the write, by variable id. */
  readonly variables: ReadonlyMap<number, VariableSurvey>;
  readonly hasUnknown: boolean;
}

/**
 * Changes `batches` in place. Gives each row of an existing variable a VersionTimestamp: at least `now`, and later than
 * the variable's last VersionTimestamp (R-F1). Clears the VersionTag when the variable is not versioned (R-F4).
 *
 * @param batches COPY tuples.
 * @param now lowest VersionTimestamp that the write may give, in microseconds since 1970.
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
