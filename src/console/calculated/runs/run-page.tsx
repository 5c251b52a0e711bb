/** One run: why it ran, what it triggered, what it read, which declaration it used, and how it ended (R-H8, R-H12). */
import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { formatMoment, formatVersion } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Table } from '../../parts/table.tsx';
import view from '../../parts/view.module.css';
import { formatNumber } from '../../texts/language.ts';
import { useVariable, type VariableContext } from '../../variable/variable-queries.ts';
import '../texts.ts';
import { type Run, runQuery, useHistory, useVariables } from '../calculated-queries.ts';
import { isSame, toDeclaration, toTexts } from '../declaration.ts';
import { Heading } from '../heading.tsx';
import { Differences } from '../script/differences.tsx';
import { Editor } from '../script/editor.tsx';
import { Notes } from '../script/preview/preview.tsx';
import classes from './runs.module.css';
import { secondsText } from './runs-page.tsx';
import { WavePicture } from './wave-picture.tsx';

const route = getRouteApi('/console/runs/$runId');

/** Renders the route. */
export function RunPage() {
  const { runId } = route.useParams();
  const run = useQuery(runQuery(runId));
  if (run.error) return <Problem error={run.error} onRetry={() => void run.refetch()} />;
  if (!run.data) return <Skeleton height={420} radius="md" />;
  return <WithVariable key={runId} run={run.data} declaration={run.data.declaration} />;
}

interface RunProps {
  readonly run: Run;
  readonly declaration: unknown;
}

function WithVariable(props: RunProps) {
  const context = useVariable(props.run.variableId);
  if (context.error) return <Problem error={context.error} onRetry={() => void context.refetch()} />;
  if (!context.data) return <Skeleton height={420} radius="md" />;
  return <Details {...props} context={context.data} />;
}

function Details({ run, declaration, context }: RunProps & { readonly context: VariableContext }) {
  const { t } = useTranslation('calculated');
  const { id, state, message, from, to, startedDate, finishedDate, counts, durationsMs } = run;
  const { timeZone } = context;
  const facts = [
    formatVersion(startedDate, timeZone),
    finishedDate !== null && secondsText(startedDate, finishedDate),
    counts.stored !== undefined && t('run.stored', { count: counts.stored }),
    t('run.dates', { from: formatMoment(from, timeZone), to: formatMoment(to, timeZone) }),
  ];
  const phases = Object.entries(durationsMs).map(
    ([phase, ms]) => `${t(`phase.${phase as 'r'}`, { defaultValue: phase })} ${Math.round(ms ?? 0)} ms`,
  );
  return (
    <>
      <Heading context={context} />
      <section className={classes.card} aria-label={t('run.title', { id })}>
        <div className={classes.between}>
          <h2>
            {t('run.title', { id })}{' '}
            <span className={classes.state} data-state={state}>
              {t(`state.${state}`)}
            </span>
          </h2>
          <Link to="/console/variables/$variableId/runs" params={{ variableId: run.variableId }}>
            {t('run.all')}
          </Link>
        </div>
        {message !== null && <p className={classes.message}>{message}</p>}
        <p className={classes.soft}>{facts.filter(Boolean).join(' · ')}</p>
        <p className={classes.soft}>{phases.join(' · ')}</p>
        <Notes {...run.notes} />
      </section>
      <section className={classes.card} aria-label={t('run.why')}>
        <h2>{t('run.why')}</h2>
        <Why run={run} />
        <h3>{t('run.wave')}</h3>
        <WavePicture runId={id} />
      </section>
      <Reads run={run} timeZone={timeZone} />
      <Ran run={run} declaration={declaration} context={context} />
    </>
  );
}

function Why({ run: { trigger, causes } }: { readonly run: Run }) {
  const { t } = useTranslation('calculated');
  const variables = useVariables(causes).data;
  if (trigger === 'ForceUpdate') return <p>{t('run.forced')}</p>;
  if (trigger === 'Form') return <p>{t('run.form')}</p>;
  if (trigger === 'Schedule') return <p>{t('run.scheduled')}</p>;
  return (
    <p>
      {t('run.causes')}{' '}
      {causes.map((variableId, index) => (
        <span key={variableId}>
          {index > 0 && ', '}
          <Link to="/console/variables/$variableId" params={{ variableId }}>
            {variables?.get(variableId)?.name || `#${variableId}`}
          </Link>
        </span>
      ))}
    </p>
  );
}

/** The inputs, each with a link to its points as of the instant whose state the run read. */
function Reads({ run: { inputs }, timeZone }: { readonly run: Run; readonly timeZone: string }) {
  const { t } = useTranslation('calculated');
  if (inputs.length === 0) return null;
  return (
    <section className={classes.card} aria-label={t('run.read')}>
      <h2>{t('run.read')}</h2>
      <Table label={t('run.read')} columns={[t('inputs.alias'), t('run.window'), [t('run.points')], t('run.version')]}>
        {inputs.map(({ formula, alias, variableId, from, to, points, asOf, version, lastVersionTimestamp }) => {
          const known = asOf ?? lastVersionTimestamp;
          return (
            <tr key={`${formula} ${alias}`}>
              <td>
                <Link
                  to="/console/variables/$variableId"
                  params={{ variableId }}
                  search={known ? { v: 'known', at: known } : {}}
                >
                  {alias}
                </Link>
              </td>
              <td>
                {[from, to].map((it) => (it === null ? t('windows.open') : formatMoment(it, timeZone))).join(' – ')}
              </td>
              <td className={view.number}>{formatNumber(points)}</td>
              <td>
                {[version, known ? t('run.knownAt', { date: formatVersion(known, timeZone) }) : t('run.none')]
                  .flat()
                  .filter(Boolean)
                  .join(', ')}
              </td>
            </tr>
          );
        })}
      </Table>
    </section>
  );
}

/** The declaration that was run: who saved it, and what has changed since. */
function Ran({ run, declaration, context }: RunProps & { readonly context: VariableContext }) {
  const { t } = useTranslation('calculated');
  const { variable, timeZone } = context;
  const history = useHistory({ sourceId: variable.sourceId, id: variable.id }).data;
  // A declaration may have been saved several times: this finds the last save before the run.
  const save = history?.find(
    ({ declarationHash, date }) =>
      declarationHash === run.declarationHash && (date === null || Date.parse(date) <= Date.parse(run.startedDate)),
  );
  if (!declaration) {
    return (
      <section className={classes.card} aria-label={t('run.declaration')}>
        <h2>{t('run.declaration')}</h2>
        <p className={classes.soft}>{t('run.noDeclaration')}</p>
      </section>
    );
  }
  const ran = toDeclaration(declaration);
  const current = toDeclaration(variable.calculated);
  // Equal hashes mean the same declaration. `isSame` alone is not enough: the run's declaration has the default values
  // filled in, and `isSame` could take them for changes.
  const isCurrent = history?.[0]?.declarationHash === run.declarationHash || isSame(ran, current);
  const kept = save ? toDeclaration(save.calculated) : ran;
  return (
    <section className={classes.card} aria-label={t('run.declaration')}>
      <h2>{t('run.declaration')}</h2>
      {save?.userName && (
        <p className={classes.soft}>
          {t('run.savedBy', {
            name: save.userName,
            date: save.date === null ? '' : formatVersion(save.date, timeZone),
          })}
          {save.note !== null && ` · ${save.note}`}
        </p>
      )}
      <Editor
        label={t('run.declaration')}
        value={toTexts(ran).script}
        onChange={() => {}}
        symbols={{ inputs: [], forms: [], constants: [] }}
        problems={lineOf(run)}
        isReadOnly
      />
      {isCurrent ? (
        <p className={classes.soft}>{t('run.current')}</p>
      ) : (
        <>
          <p className={classes.soft}>{t('run.notCurrent')}</p>
          <Differences before={kept} after={current} />
        </>
      )}
    </section>
  );
}

const NO_PROBLEMS = [] as const;

function lineOf({ notes, message, state }: Run) {
  const { line } = notes;
  if (state !== 'Failed' || line === undefined || line === null) return NO_PROBLEMS;
  return [{ line, message: message ?? '', severity: 'error' as const }];
}
