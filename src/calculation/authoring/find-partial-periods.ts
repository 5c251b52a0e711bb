/**
 * Warns when a script groups an input by periods, such as days, and the window of the input may begin or end within a
 * period. A run then computes this period from only some of its points (R-H6, R-H9). Pure; `validate` of
 * authoring-routes.ts returns the warnings.
 */
import type { ErrorDetail } from '../../platform/errors.ts';
import type { FormulaDeclaration, InputDeclaration } from '../declaration/declaration.ts';
import type { ScriptBucket } from './preview-task.ts';

type Period = ScriptBucket['period'];

/**
 * Maps each period to the periods that it divides evenly. For example, `Day` maps to `Month`, because a month consists
 * of whole days.
 */
const COVERING: Readonly<Record<Period, readonly Period[]>> = {
  Hour: ['Hour', 'Day', 'Week', 'Month', 'Year'],
  Day: ['Day', 'Week', 'Month', 'Year'],
  Week: ['Week'],
  Month: ['Month', 'Year'],
  Year: ['Year'],
};

/**
 * @param names the names that the script reads. If some have the form `inputVariables$<alias>`, only the inputs with
 *   these aliases are checked; otherwise all inputs are.
 * @param path JSON path of the formula.
 * @returns at most one warning for each input. The warning names a period, such as `month`: the script groups by this
 *   period, and the input's window may begin or end in the middle of it. If this is true of several periods, the
 *   warning names the one that comes first in `buckets`.
 */
export function findPartialPeriods(
  { variables }: FormulaDeclaration,
  names: readonly string[],
  buckets: readonly ScriptBucket[],
  path: string,
): readonly ErrorDetail[] {
  const readsByName = names.some((name) => name.startsWith('inputVariables$'));
  return variables.flatMap((input, index) => {
    if (readsByName && !names.includes(`inputVariables$${input.alias}`)) return [];
    const bucket = buckets.find(({ period }) => !isWhole(input, period));
    if (!bucket) return [];
    const name = bucket.period === 'Year' ? 'quarter or year' : bucket.period.toLowerCase();
    const period = bucket.period === 'Hour' ? 'Day' : bucket.period;
    const message =
      `the expression on line ${bucket.line} groups by ${name}, but the window of ${input.alias} may begin or end within a ${name}; ` +
      `a run would then read only some points of that ${name}; declare "alignTo": "${period}"`;
    return [{ path: `${path}.variables[${index}].alignTo`, message }];
  });
}

/**
 * @returns true when the window holds only whole periods. Also returns true for an absolute window, which is the same
 *   for every run.
 */
function isWhole({ periodType, granularity, alignTo }: InputDeclaration, period: Period): boolean {
  const covering: readonly string[] = COVERING[period];
  return (
    periodType === 'AbsoluteDate' || covering.includes(granularity) || (alignTo ? covering.includes(alignTo) : false)
  );
}
