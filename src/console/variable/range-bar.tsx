/**
 * Buttons for the shown period: they set its length to 1, 7, 31 or 366 days, move it back or forward by half its
 * length, or show all points.
 */
import { ActionIcon, Button, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { formatMoment } from '../parts/moment.tsx';
import { Icon } from '../shell/icon.tsx';
import { moveRange, type Range, resizeRange } from './chart-rules.ts';
import classes from './range-bar.module.css';

const LENGTHS = { day: 1, week: 7, month: 31, year: 366 } as const;

interface RangeBarProps {
  readonly range: Range;
  readonly timeZone: string;
  readonly onRange: (range: Range) => void;
  /** Called when the user asks to see all points. */
  readonly onWhole: () => void;
}

/** Buttons above the chart that choose its period. */
export function RangeBar({ range, timeZone, onRange, onWhole }: RangeBarProps) {
  const { t } = useTranslation();
  return (
    <div className={classes.bar}>
      <Group gap={4}>
        {Object.entries(LENGTHS).map(([name, days]) => (
          <Button key={name} size="compact-sm" variant="default" onClick={() => onRange(resizeRange(range, days))}>
            {t(`range.${name as keyof typeof LENGTHS}`)}
          </Button>
        ))}
        <Button size="compact-sm" variant="default" onClick={onWhole}>
          {t('range.all')}
        </Button>
      </Group>
      <Group gap={4} wrap="nowrap">
        <ActionIcon variant="default" aria-label={t('range.back')} onClick={() => onRange(moveRange(range, -0.5))}>
          <span className={classes.left}>
            <Icon name="right" size={14} />
          </span>
        </ActionIcon>
        <span className={classes.text}>
          {formatMoment(range.from * 1000, timeZone)} – {formatMoment(range.to * 1000, timeZone)}
        </span>
        <ActionIcon variant="default" aria-label={t('range.forth')} onClick={() => onRange(moveRange(range, 0.5))}>
          <Icon name="right" size={14} />
        </ActionIcon>
      </Group>
    </div>
  );
}
