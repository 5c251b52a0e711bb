/**
 * In the version bar, the user chooses the versions that the chart shows: the latest versions, several labels side by
 * side, the state known at an instant (a slider over the instants at which versions arrived, with playback), or a
 * comparison of two sides. Each side is the latest state, one label, or the state known at an instant.
 */
import { ActionIcon, SegmentedControl, Select, Slider } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { formatVersion } from '../../parts/moment.tsx';
import { Icon } from '../../shell/icon.tsx';
import { useVersions } from '../chart-queries.ts';
import type { Selection, Side } from '../chart-rules.ts';
import classes from './version-bar.module.css';

const PLAY_MS = 800;
const KINDS = ['latest', 'labels', 'known', 'compare'] as const;

interface VersionBarProps {
  readonly variableId: number;
  readonly selection: Selection;
  /** Instants at which versions arrived, ascending, as ISO 8601. */
  readonly stops: readonly string[];
  readonly timeZone: string;
  readonly onSelect: (selection: Selection) => void;
}

/** The version bar, which is shown below the chart. */
export function VersionBar(props: VersionBarProps) {
  const { t } = useTranslation();
  const { variableId, selection, stops, onSelect } = props;
  const labels = (useVersions(variableId).data ?? []).flatMap(({ version }) => version ?? []);
  const select = (kind: string) => {
    if (kind === 'labels') onSelect({ kind, labels: labels.slice(0, 2) });
    else if (kind === 'known') onSelect({ kind, at: stops.at(-1) });
    else if (kind === 'compare') onSelect({ kind, ...firstComparison(labels, stops) });
    else onSelect({ kind: 'latest' });
  };
  return (
    <section className={classes.bar} aria-label={t('version.bar')}>
      <SegmentedControl
        aria-label={t('version.bar')}
        value={selection.kind}
        onChange={select}
        data={KINDS.map((kind) => ({ value: kind, label: t(`version.kind.${kind}`) }))}
      />
      <div className={classes.choice}>
        {selection.kind === 'latest' && <p className={classes.note}>{t('version.latestNote')}</p>}
        {selection.kind === 'labels' && <Labels labels={labels} chosen={selection.labels} onSelect={onSelect} />}
        {selection.kind === 'known' && <KnownAt {...props} at={selection.at} />}
        {selection.kind === 'compare' && (
          <Sides {...props} labels={labels} left={selection.left} right={selection.right} />
        )}
      </div>
    </section>
  );
}

/**
 * @returns the two sides of a new comparison: the second newest and the newest label. With fewer than two labels: the
 *   slider's first instant (the latest state if the slider has none) and the latest state.
 */
function firstComparison(
  labels: readonly string[],
  stops: readonly string[],
): { readonly left: Side; readonly right: Side } {
  const [first, second] = labels;
  if (first !== undefined && second !== undefined) return { left: `label:${second}`, right: `label:${first}` };
  return { left: stops[0] === undefined ? 'latest' : `known:${stops[0]}`, right: 'latest' };
}

interface LabelsProps {
  readonly labels: readonly string[];
  readonly chosen: readonly string[];
  readonly onSelect: (selection: Selection) => void;
}

function Labels({ labels, chosen, onSelect }: LabelsProps) {
  const { t } = useTranslation();
  if (labels.length === 0) return <p className={classes.note}>{t('version.noLabels')}</p>;
  return (
    <fieldset className={classes.labels}>
      <legend className={classes.legend}>{t('version.kind.labels')}</legend>
      {labels.map((label) => {
        const isChosen = chosen.includes(label);
        const next = isChosen ? chosen.filter((each) => each !== label) : [...chosen, label];
        return (
          <button
            key={label}
            type="button"
            className={classes.label}
            aria-pressed={isChosen}
            onClick={() => onSelect({ kind: 'labels', labels: next })}
          >
            {label}
          </button>
        );
      })}
    </fieldset>
  );
}

/** The slider, with playback, that chooses an instant; the chart shows the state known at this instant. */
function KnownAt({ stops, timeZone, at, onSelect }: VersionBarProps & { readonly at: string | undefined }) {
  const { t } = useTranslation();
  const [isPlaying, setPlaying] = useState(false);
  const index =
    at === undefined
      ? stops.length - 1
      : Math.max(
          0,
          stops.findLastIndex((stop) => stop <= at),
        );
  const show = (next: number) => onSelect({ kind: 'known', at: stops[next] });
  useEffect(() => {
    if (!isPlaying) return;
    if (index >= stops.length - 1) return setPlaying(false);
    const timer = setTimeout(() => onSelect({ kind: 'known', at: stops[index + 1] }), PLAY_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, index, stops, onSelect]);
  if (stops.length === 0) return <p className={classes.note}>{t('version.noVersions')}</p>;
  // If the instant in the URL is before the first stop, the text shows the instant in the URL.
  const shown = at !== undefined && at < (stops[0] ?? '') ? at : (stops[index] ?? '');
  const moment = formatVersion(shown, timeZone);
  const play = () => {
    if (!isPlaying && index >= stops.length - 1) show(0);
    setPlaying(!isPlaying);
  };
  return (
    <div className={classes.known}>
      <ActionIcon
        variant="light"
        size="lg"
        aria-label={t(isPlaying ? 'version.pause' : 'version.play')}
        disabled={stops.length < 2}
        onClick={play}
      >
        <Icon name={isPlaying ? 'pause' : 'play'} size={16} />
      </ActionIcon>
      <Slider
        className={classes.slider ?? ''}
        min={0}
        max={Math.max(1, stops.length - 1)}
        step={1}
        value={index}
        disabled={stops.length < 2}
        label={null}
        marks={stops.length <= 40 ? stops.map((_, value) => ({ value })) : []}
        thumbLabel={t('version.slider')}
        thumbProps={{ 'aria-valuetext': moment }}
        onChange={show}
      />
      <output className={classes.moment}>
        {moment} <span className={classes.note}>{t('version.stop', { number: index + 1, count: stops.length })}</span>
      </output>
    </div>
  );
}

interface SidesProps extends VersionBarProps {
  readonly labels: readonly string[];
  readonly left: Side;
  readonly right: Side;
}

function Sides({ labels, stops, timeZone, left, right, onSelect }: SidesProps) {
  const { t } = useTranslation();
  const data = [
    { group: t('version.kind.latest'), items: [{ value: 'latest', label: t('version.latest') }] },
    { group: t('version.kind.labels'), items: labels.map((label) => ({ value: `label:${label}`, label })) },
    {
      group: t('version.kind.known'),
      items: [...new Set([...stops, ...[left, right].filter(isKnown).map((side) => side.slice(6))])]
        .sort()
        .map((stop) => ({ value: `known:${stop}`, label: formatVersion(stop, timeZone) })),
    },
  ];
  const set = (side: 'left' | 'right', value: string | null) =>
    value !== null && onSelect({ kind: 'compare', left, right, [side]: value });
  return (
    <div className={classes.sides}>
      <Select
        label={t('version.before')}
        data={data}
        value={left}
        allowDeselect={false}
        onChange={(value) => set('left', value)}
      />
      <Select
        label={t('version.after')}
        data={data}
        value={right}
        allowDeselect={false}
        onChange={(value) => set('right', value)}
      />
    </div>
  );
}

function isKnown(side: Side): boolean {
  return side.startsWith('known:');
}
