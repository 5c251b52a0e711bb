/** A card with a heading and a table, whose columns mostly show numbers. */
import type { ReactNode } from 'react';
import { Table } from '../parts/table.tsx';
import classes from '../parts/view.module.css';

interface FiguresProps {
  readonly title: string;
  readonly note?: string;
  readonly columns: readonly string[];
  readonly rows: readonly { readonly key: string; readonly cells: readonly ReactNode[] }[];
  /** Text shown instead of a table without rows. */
  readonly empty: string;
  /** Number of leading text columns; the other columns are aligned to the right. */
  readonly texts?: number;
}

/** Shows the table in a card, with a heading. */
export function Figures({ title, note, columns, rows, empty, texts = 1 }: FiguresProps) {
  const classOf = (column: number) => (column < texts ? undefined : classes.number);
  return (
    <section className={classes.card} aria-label={title}>
      <h2>{title}</h2>
      {note !== undefined && <p className={classes.soft}>{note}</p>}
      {rows.length === 0 && <p className={classes.soft}>{empty}</p>}
      {rows.length > 0 && (
        <Table label={title} columns={columns.map((name, column) => (column < texts ? name : ([name] as const)))}>
          {rows.map(({ key, cells }) => (
            <tr key={key}>
              {cells.map((cell, column) => (
                <td key={columns[column]} className={classOf(column)}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
