/**
 * The page of one mapper. The name and the expression are at the top; below them, a sample is on the left and the
 * result on the right. When the user changes the expression or the sample, the result is updated.
 */
import { javascript } from '@codemirror/legacy-modes/mode/javascript';
import { tags } from '@lezer/highlight';
import { NativeSelect, Skeleton, Switch, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { Editor } from '../../calculated/script/editor.tsx';
import { type LineProblem, linesOfError } from '../../calculated/script/problem-lines.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { useDraft } from '../../parts/draft.ts';
import { Problem } from '../../parts/problem.tsx';
import { SaveBar } from '../../parts/save-bar.tsx';
import classes from '../../parts/view.module.css';
import { settings } from '../../session/settings.ts';
import { notifyDone } from '../../shell/notify.ts';
import { useMappers } from './mappers.tsx';

/**
 * JSONata is coloured as JavaScript, which has similar tokens. Quoted keys have the style `string property`. Without a
 * tag for the style `property`, CodeMirror logs a warning.
 */
const JSONATA = { ...javascript, tokenTable: { property: tags.propertyName } };

const DELAY_MS = 400;
const NO_PROBLEMS: readonly LineProblem[] = [];
const TYPES = ['application/json', 'application/xml', 'text/csv'] as const;
type SampleType = (typeof TYPES)[number];

interface Sample {
  readonly contentType: SampleType;
  readonly body: string;
}

interface Fields {
  readonly name: string;
  readonly expression: string;
  readonly hasHeader: boolean;
  readonly isEnabled: boolean;
}

const NEW: Fields = {
  name: '',
  expression:
    '[$.devices.{\n  "sourceSerialNumber": serial,\n  "mappingConfig": "kWh",\n  "data": [samples.{ "date": at, "value": kwh }]\n}]',
  hasHeader: true,
  isEnabled: true,
};
const SAMPLE: Sample = {
  contentType: 'application/json',
  body: '{\n  "devices": [\n    { "serial": "0042", "samples": [{ "at": "2026-03-01T00:00:00Z", "kwh": 1.5 }] }\n  ]\n}',
};

/** Content of the tab "Mappers" while a mapper is open. @param id GUID of the mapper, or `new` for a new mapper. */
export function MapperPage({ id }: { readonly id: string }) {
  const { t } = useTranslation('data');
  const mappers = useMappers();
  const found = mappers.data?.find((mapper) => mapper.id === id);
  return (
    <>
      <p className={classes.bar}>
        <Link to="/console/data" search={{ tab: 'mappers' }}>
          {t('mappers.all')}
        </Link>
      </p>
      {mappers.error && <Problem error={mappers.error} onRetry={() => void mappers.refetch()} />}
      {mappers.isPending && <Skeleton height={300} radius="md" />}
      {mappers.data && !found && id !== 'new' && <p>{t('mappers.missing')}</p>}
      {(found || (mappers.data && id === 'new')) && <MapperForm id={id} saved={found ?? NEW} />}
    </>
  );
}

function MapperForm({ id, saved }: { readonly id: string; readonly saved: Fields }) {
  const { t } = useTranslation('data');
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { name, expression, hasHeader, isEnabled } = saved;
  const [fields, setFields, dropFields] = useDraft<Fields>(`mapper.${id}`, { name, expression, hasHeader, isEnabled });
  const [sample, setSample] = useDraft<Sample>(`mapper-sample.${id}`, SAMPLE);
  const trial = useTrial({ expression: fields.expression, hasHeader: fields.hasHeader, ...sample });
  const isNew = id === 'new';
  const isChanged = (Object.keys(fields) as (keyof Fields)[]).some((each) => fields[each] !== saved[each]);
  const leave = async (mapper?: string) => {
    await queries.invalidateQueries({ queryKey: ['mappers'] });
    await navigate({ to: '/console/data', search: { tab: 'mappers', ...(mapper !== undefined && { mapper }) } });
  };
  const save = useMutation({
    mutationFn: async () => {
      if (isNew) return (await bodyOf(api.POST('/account/mappers', { body: fields }))).id;
      await bodyOf(api.PUT('/account/mappers/{id}', { params: { path: { id } }, body: fields }));
      return id;
    },
    onSuccess: async (kept) => {
      dropFields(isNew ? NEW : fields);
      notifyDone(t('mappers.saved'));
      await leave(kept);
    },
  });
  const remove = useMutation({
    mutationFn: () => bodyOf(api.DELETE('/account/mappers/{id}', { params: { path: { id } } })),
    onSuccess: () => {
      dropFields();
      return leave();
    },
  });
  return (
    <>
      <section className={classes.card} aria-label={t('mappers.mapper')}>
        <div className={classes.form}>
          <TextInput
            label={t('mappers.name')}
            value={fields.name}
            onChange={({ currentTarget }) => setFields({ ...fields, name: currentTarget.value })}
          />
          <div>
            <Switch
              className={classes.level ?? ''}
              label={t('mappers.isEnabled')}
              checked={fields.isEnabled}
              onChange={({ currentTarget }) => setFields({ ...fields, isEnabled: currentTarget.checked })}
            />
          </div>
          {!isNew && (
            <p className={`${classes.soft} ${classes.wide}`}>
              <code>
                POST {settings.push}/api/generic/{id}
              </code>
            </p>
          )}
          <div className={classes.wide}>
            <p className={classes.fieldLabel}>{t('mappers.expression')}</p>
            <Editor
              language={JSONATA}
              label={t('mappers.expression')}
              value={fields.expression}
              problems={trial.problems}
              onChange={(expression) => setFields({ ...fields, expression })}
            />
            <p className={classes.soft}>{t('mappers.expressionHint')}</p>
          </div>
        </div>
        {save.error && <Problem error={save.error} />}
        {remove.error && <Problem error={remove.error} />}
        <SaveBar
          isChanged={isChanged}
          isNew={isNew}
          isBusy={save.isPending}
          onSave={() => save.mutate()}
          onDiscard={() => dropFields(saved)}
        >
          {!isNew && (
            <ConfirmButton
              label={t('delete')}
              question={t('mappers.reallyDelete', { name: saved.name })}
              isBusy={remove.isPending}
              onConfirm={() => remove.mutate()}
            />
          )}
        </SaveBar>
      </section>
      <div className={classes.panes}>
        <section className={classes.card} aria-labelledby="sample">
          <h2 id="sample">{t('mappers.sample')}</h2>
          <div className={classes.form}>
            <NativeSelect
              label={t('mappers.type')}
              data={TYPES}
              value={sample.contentType}
              onChange={({ currentTarget }) => setSample({ ...sample, contentType: currentTarget.value as SampleType })}
            />
            {sample.contentType === 'text/csv' && (
              <Switch
                className={classes.level ?? ''}
                label={t('mappers.hasHeader')}
                checked={fields.hasHeader}
                onChange={({ currentTarget }) => setFields({ ...fields, hasHeader: currentTarget.checked })}
              />
            )}
            <Textarea
              className={`${classes.area} ${classes.wide}`}
              label={t('mappers.body')}
              rows={14}
              spellCheck={false}
              value={sample.body}
              onChange={({ currentTarget }) => setSample({ ...sample, body: currentTarget.value })}
            />
          </div>
        </section>
        <Result result={trial.result} />
      </div>
    </>
  );
}

type Trial = Sample & Pick<Fields, 'expression' | 'hasHeader'>;

/**
 * Tries the expression with the sample when the user pauses typing; stores nothing.
 * @returns the result of the trial, and `problems`: the error of the trial, if any, with a line of the expression.
 */
function useTrial(given: Trial) {
  const [trial] = useDebouncedValue(given, DELAY_MS);
  const { expression, hasHeader, contentType, body } = trial;
  const result = useQuery({
    queryKey: ['mapper-trial', expression, hasHeader, contentType, body],
    queryFn: async ({ signal }) => {
      const sample = { expression, hasHeader, contentType, sample: body };
      const tried = await bodyOf(api.POST('/account/mappers/test', { body: sample, signal }));
      return { ...tried, problemLines: tried.error ? linesOfError(expression, tried.error.message) : NO_PROBLEMS };
    },
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  return { result, problems: result.data?.problemLines ?? NO_PROBLEMS };
}

/** Shows the elements that the service computes from the sample, and the errors of the trial. */
function Result({ result }: { readonly result: ReturnType<typeof useTrial>['result'] }) {
  const { t } = useTranslation('data');
  return (
    <section className={classes.card} aria-labelledby="result" aria-busy={result.isFetching}>
      <h2 id="result">{t('mappers.result')}</h2>
      {result.isPending && <Skeleton height={200} radius="md" />}
      {result.error && <Problem error={result.error} />}
      {result.data && !result.error && (
        <div role="status">
          {result.isPlaceholderData && <p className={classes.soft}>{t('mappers.running')}</p>}
          {result.data.error && <p className={classes.message}>{result.data.error.message}</p>}
          {result.data.problems?.map(({ path, message }) => (
            <p key={path + message} className={classes.message}>
              <code>{path}</code> {message}
            </p>
          ))}
          {result.data.elements !== undefined && !result.data.problems && !result.isPlaceholderData && (
            <p>{t('mappers.accepted')}</p>
          )}
          {result.data.elements !== undefined && (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it must take the keyboard
            <pre className={classes.code} tabIndex={0}>
              {JSON.stringify(result.data.elements, null, 2)}
            </pre>
          )}
        </div>
      )}
    </section>
  );
}
