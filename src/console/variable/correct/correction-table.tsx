/** Table of the dates of a correction, with stored and new values. The user can edit the new values. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { formatMoment } from '../../parts/moment.tsx';
import { formatValue } from '../plot/plot-options.ts';
import type { Row } from './correction-rules.ts';
import classes from './correction-table.module.css';

const ROW_PIXELS = 34;

interface CorrectionTableProps {
  readonly rows: readonly Row[];
  readonly timeZone: string;
  /**
   * Called when the user edits a point.
   * @param seconds date of the point.
   * @param value the new value of the point; undefined discards an earlier edit of the point.
   */
  readonly onEdit: (seconds: number, value: number | undefined) => void;
}

/** Table of the points in the marked range: one row for each stored point and for each added point. */
export function CorrectionTable({ rows, timeZone, onEdit }: CorrectionTableProps) {
  const { t } = useTranslation('variable');
  const frame = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PIXELS,
    overscan: 10,
  });
  const shown = virtual.getVirtualItems();
  const above = shown[0]?.start ?? 0;
  const below = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    <div ref={frame} className={classes.frame}>
      <table className={classes.table} aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {(['date', 'before', 'after'] as const).map((name) => (
              <th key={name} scope="col">
                {t(`correct.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {above > 0 && <tr style={{ height: above }} />}
          {shown.map(({ index }) => {
            const row = rows[index];
            if (!row) return null;
            const date = formatMoment(row.seconds * 1000, timeZone);
            return (
              <tr key={row.seconds} aria-rowindex={index + 2} data-changed={row.after !== undefined}>
                <td>{date}</td>
                <td>{formatValue(row.before)}</td>
                <td>
                  <ValueBox {...row} label={`${t('correct.after')} ${date}`} onEdit={onEdit} />
                </td>
              </tr>
            );
          })}
          {below > 0 && <tr style={{ height: below }} />}
        </tbody>
      </table>
    </div>
  );
}

type ValueBoxProps = Row & { readonly label: string; readonly onEdit: CorrectionTableProps['onEdit'] };

/** Input box for the new value of a point. The value is applied on blur or Enter; an empty box removes the edit. */
function ValueBox({ seconds, after, label, onEdit }: ValueBoxProps) {
  const { t } = useTranslation('variable');
  const take = (box: HTMLInputElement) => {
    const text = box.value.trim().replace(',', '.');
    const value = text === '' ? undefined : Number(text);
    const isWrong = value !== undefined && !Number.isFinite(value);
    box.setCustomValidity(isWrong ? t('correct.notNumber') : '');
    box.setAttribute('aria-invalid', String(isWrong));
    if (isWrong) box.reportValidity();
    else if (value !== after) onEdit(seconds, value);
  };
  return (
    <input
      // The key makes React replace the box when `after` changes from outside the box, for example when the user
      // changes the whole range.
      key={after}
      className={classes.box}
      inputMode="decimal"
      aria-label={label}
      defaultValue={after === undefined ? '' : String(after)}
      onBlur={(event) => take(event.currentTarget)}
      onKeyDown={(event) => event.key === 'Enter' && take(event.currentTarget)}
    />
  );
}
