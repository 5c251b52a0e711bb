/**
 * A table in a frame that scrolls, and buttons for its pages. On a phone, each row of a table with at most MAX_NAMED
 * columns is shown as a card of column names and values.
 */
import { Button } from '@mantine/core';
import type { CSSProperties, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Frame } from './frame.tsx';
import own from './table.module.css';
import classes from './view.module.css';

/** Maximum number of columns that the style sheet can label on a phone. A table with more columns scrolls sideways. */
const MAX_NAMED = 8;

interface TableProps {
  /** Description of the table for screen readers. */
  readonly label: string;
  /**
   * Names of the columns. A name in an array of its own, such as `['Points']`, marks a column of numbers, which is
   * aligned to the right.
   */
  readonly columns: readonly (string | readonly [string])[];
  readonly children: ReactNode;
}

export function Table({ label, columns, children }: TableProps) {
  const names = columns.map((column) => (typeof column === 'string' ? column : column[0]));
  const isNamed = names.length <= MAX_NAMED;
  return (
    <Frame label={label}>
      <table className={`${classes.table} ${isNamed ? own.cards : ''}`} style={isNamed ? toProperties(names) : {}}>
        <thead>
          <tr>
            {names.map((name, index) => (
              // Two columns may have the same name, for example in a table of an uploaded file.
              // biome-ignore lint/suspicious/noArrayIndexKey: see above
              <th key={index} scope="col" className={typeof columns[index] === 'string' ? undefined : classes.number}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </Frame>
  );
}

/** @returns CSS variables with the column names. On a phone, each cell shows the name of its column. */
function toProperties(names: readonly string[]): CSSProperties {
  return Object.fromEntries(names.map((name, index) => [`--column-${index + 1}`, JSON.stringify(name)]));
}

interface PagesProps {
  /** Index of the page shown, from 0. */
  readonly page: number;
  readonly pageRows: number;
  readonly total: number;
  readonly onChange: (page: number) => void;
}

/** Shows buttons for the previous and the next page, or nothing when one page holds all rows. */
export function Pages({ page, pageRows, total, onChange }: PagesProps) {
  const { t } = useTranslation();
  if (total <= pageRows) return null;
  const pages = Math.ceil(total / pageRows);
  return (
    <p className={classes.bar}>
      <Button size="compact-sm" variant="default" disabled={page === 0} onClick={() => onChange(page - 1)}>
        {t('page.back')}
      </Button>
      <span className={classes.soft}>{t('page.of', { page: page + 1, pages })}</span>
      <Button size="compact-sm" variant="default" disabled={page + 1 >= pages} onClick={() => onChange(page + 1)}>
        {t('page.forth')}
      </Button>
    </p>
  );
}
