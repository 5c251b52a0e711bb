/** Shows the result of a preview. A preview runs the scripts but stores nothing. */
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Evaluation } from '../../calculated-queries.ts';
import classes from '../script.module.css';
import { InputChart } from './input-chart.tsx';

interface PreviewProps {
  readonly evaluation: Evaluation;
  readonly name: string;
  readonly unitId: number | null;
  readonly timeZone: string;
}

/** Shows the answer of `evaluate`: points, inputs, messages and plots. */
export function Preview({ evaluation, name, unitId, timeZone }: PreviewProps) {
  const { t } = useTranslation('calculated');
  const { outcome, message, line, counts, durationsMs, plots, isSeriesCut, series } = evaluation;
  const isGood = outcome === 'ok';
  const [result, setResult] = useState({ name, unitId });
  if (result.name !== name || result.unitId !== unitId) setResult({ name, unitId });
  return (
    <div className={classes.preview}>
      <p className={isGood ? classes.good : classes.problem} role="status">
        {isGood
          ? t('preview.good', { count: counts.wouldStore ?? 0 })
          : `${message ?? outcome}${line === null ? '' : ` (${t('preview.line', { line })})`}`}
      </p>
      <InputChart evaluation={evaluation} timeZone={timeZone} {...(isGood && { result })} />
      {isSeriesCut && <p className={classes.soft}>{t('preview.cut', { count: series.length })}</p>}
      <p className={classes.soft}>
        {t('preview.read', { count: counts.read ?? 0 })} ·{' '}
        {Object.entries(durationsMs)
          .map(([phase, ms]) => `${t(`phase.${phase as 'r'}`, { defaultValue: phase })} ${Math.round(ms ?? 0)} ms`)
          .join(' · ')}
      </p>
      <Notes {...evaluation} />
      {plots.map(({ name: plot, format, data }) => (
        <Drawing key={plot} name={plot} format={format} data={data} />
      ))}
    </div>
  );
}

/** Shows the errors, warnings, messages and other output of a script. */
export function Notes({ errors = [], warnings = [], messages = [], output = '' }: Partial<Evaluation>) {
  const { t } = useTranslation('calculated');
  const lists = { errors, warnings, messages } as const;
  return (
    <>
      {(['errors', 'warnings', 'messages'] as const).map(
        (kind) =>
          lists[kind].length > 0 && (
            <section key={kind} aria-label={t(`notes.${kind}`)}>
              <h3>{t(`notes.${kind}`)}</h3>
              <ul className={classes.notes} data-kind={kind}>
                {lists[kind].map((text, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a script may write the same text twice
                  <li key={index}>{text}</li>
                ))}
              </ul>
            </section>
          ),
      )}
      {output !== '' && (
        <section aria-label={t('notes.output')}>
          <h3>{t('notes.output')}</h3>
          <pre className={classes.output}>{output}</pre>
        </section>
      )}
    </>
  );
}

interface DrawingProps {
  readonly name: string;
  readonly format: 'svg' | 'png';
  /** Bytes of the picture, in base64. */
  readonly data: string;
}

/** Shows a picture that the R script wrote. In an `img` element, the picture can neither run code nor load anything. */
function Drawing({ name, format, data }: DrawingProps) {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    const made = URL.createObjectURL(new Blob([bytes], { type: format === 'svg' ? 'image/svg+xml' : 'image/png' }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [data, format]);
  return address === undefined ? null : <img className={classes.drawing} src={address} alt={name} />;
}
