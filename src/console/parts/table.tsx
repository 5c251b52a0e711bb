/** A table in a frame that scrolls, with the names of its columns; and the buttons of its pages. */
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Frame } from './frame.tsx';
import classes from './view.module.css';

interface TableProps {
  /** Description of the table for screen readers. */
  readonly label: string;
  /** Names of the columns; one in an array holds numbers, aligned to the right. */
  readonly columns: readonly (string | readonly [string])[];
  /** The rows. */
  readonly children: ReactNode;
}

export function Table({ label, columns, children }: TableProps) {
  return (
    <Frame label={label}>
      <table className={classes.table}>
        <thead>
          <tr>
            {columns.map((column, index) => {
              const isNumber = typeof column !== 'string';
              const name = isNumber ? column[0] : column;
              return (
                // The header of a file may repeat a name.
                // biome-ignore lint/suspicious/noArrayIndexKey: see above
                <th key={index} scope="col" className={isNumber ? classes.number : undefined}>
                  {name}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </Frame>
  );
}

interface PagesProps {
  /** Index of the page shown, from 0. */
  readonly page: number;
  readonly pageRows: number;
  readonly total: number;
  readonly onChange: (page: number) => void;
}

/** Previous and next; nothing while one page holds all rows. */
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
