/** Converts points from the columnar JSON form to rows. */

/**
 * @returns the rows of a columnar object. Row i has element i of every member that is an array, and the other members
 * unchanged. A row has no `version` when its version is null, and no `tags` when its tags are null.
 */
export function rowsOfColumns(columns: Readonly<Record<string, unknown>>): readonly Record<string, unknown>[] {
  const dates = columns.date as readonly unknown[];
  return dates.map((_date, index) => {
    const members = Object.entries(columns).map(([name, column]) => {
      return [name, Array.isArray(column) ? column[index] : column] as const;
    });
    const isPresent = ([name, value]: readonly [string, unknown]) =>
      value !== null || (name !== 'version' && name !== 'tags');
    return Object.fromEntries(members.filter(isPresent));
  });
}
