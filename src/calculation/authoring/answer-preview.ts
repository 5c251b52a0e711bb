/**
 * The calculator's side of previews (R-H9): takes a waiting task, performs it and stores the answer. Tasks that execute
 * a declaration use `compute`, as the runs of calculations do.
 */
import { type Connection, type Database, withConnection } from '../../platform/database/database.ts';
import { toStorableText } from '../../platform/database/storable-text.ts';
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import type { Micros } from '../../points/point.ts';
import { instantMicros } from '../declaration/declaration.ts';
import { type ComputeRequest, compute } from '../run/compute.ts';
import { defaultVersion } from '../run/default-version-rules.ts';
import { listPackages, readScripts } from '../run/read-scripts.ts';
import type { RunServices } from '../run/run-calculation.ts';
import type { Turn } from '../turns/fair-queue.ts';
import { PATIENCE_MS } from './ask-calculator.ts';
import { describeComputed, type PreviewedDates } from './describe-preview.ts';
import type { PreviewDates, PreviewTask } from './preview-task.ts';
import { replayRun } from './replay-run.ts';

const TAKE_TASK = `
  update calculation_preview set state = 'Running' where id = $1 and state = 'Waiting'
  returning variable_id as "variableId", task`;
const STORE_ANSWER = `update calculation_preview set state = 'Done', answer = $2, file = $3 where id = $1`;
const PUT_BACK = `update calculation_preview set state = 'Waiting' where id = $1`;
const FIND_WAITING = `
  select account_id as "accountId", id, 'preview' as urgency from calculation_preview where state = 'Waiting' order by id`;
const FIND_OPEN = `
  select from calculation_preview where id = $1 and created_date > clock_timestamp() - $2 * interval '1 millisecond'`;
/** Interval at which a calculator checks whether the client still waits. */
const CHECK_INTERVAL_MS = 500;
// Deletes tasks older than ten minutes. The API no longer needs their answers, because it waits at most `PATIENCE_MS`.
const FORGET = `delete from calculation_preview where created_date < now() - interval '10 minutes'`;

// Newest date at which an input has a point; after deletions, the date may be later than that of the newest remaining
// point. The inputs are the variables with the ids $2, and the variables that the saved declaration of variable $1 reads.
const NEWEST_DATE = `
  select (extract(epoch from max(max_date)) * 1000000)::int8 as newest from series
  where max_date > '-infinity' and variable_id in (
    select input_variable_id from variable_input where variable_id = $1
    union all select unnest($2::int[]))`;

/** Maximum size of `sample.rdata` in bytes; equals `max_file_bytes` in r-runtime/R/files.R. */
const MAX_SAMPLE_BYTES = 48e6;
const TOO_LARGE = `the sample data must be at most ${MAX_SAMPLE_BYTES / 1e6} MB; request a shorter period with the parameters from and to, or declare shorter periods for the inputs`;
/** The script that saves the five globals, the toolbox and the seed in the file `sample.rdata` (R-H2, R-H9). */
const SAVE_SAMPLE = `
tidemark:::save_sample("sample.rdata")
list(TimeSeries = list(Dates = integer(), Values = numeric()))`;

interface Answer {
  readonly answer?: Readonly<Record<string, unknown>>;
  readonly file?: Buffer;
}

/**
 * Answers one task. Does nothing when another calculator has taken the task, or when the task was deleted. Stops the
 * task, without an error, when its client no longer waits (R-H9).
 * @throws the error that prevented the answer, or the reason of `signal`. The state of the task is then Waiting, unless
 * the database failed.
 */
export async function answerPreview(services: RunServices, id: number, signal: AbortSignal): Promise<void> {
  const { rows } = await services.database.query<{ variableId: number | null; task: PreviewTask }>(TAKE_TASK, [id]);
  const [row] = rows;
  if (!row) return;
  const client = watchClient(services.database, id);
  try {
    const eitherSignal = AbortSignal.any([signal, client.signal]);
    const { answer, file } = await withConnection(services.database, (connection) =>
      perform(services, connection, row.variableId, row.task, eitherSignal),
    );
    await services.database.query(STORE_ANSWER, [id, answer ? toStorableJson(answer) : null, file ?? null]);
  } catch (error) {
    if (client.signal.aborted) return;
    // Puts the task back: a calculator may still answer the task while the API waits.
    await services.database.query(PUT_BACK, [id]);
    throw error;
  } finally {
    client.stop();
  }
}

/** Deletes the tasks older than ten minutes. @returns the waiting tasks, oldest first (R-H9). */
export async function findWaitingPreviews(database: Database): Promise<readonly Turn[]> {
  await database.query(FORGET);
  return (await database.query<Turn>(FIND_WAITING)).rows;
}

/** Checks until `stop` whether the client still waits for the task. Aborts `signal` when it does not. */
function watchClient(database: Database, id: number): { readonly signal: AbortSignal; stop(): void } {
  const gone = new AbortController();
  const timer = setInterval(async () => {
    const open = await database.query(FIND_OPEN, [id, PATIENCE_MS]).catch(() => undefined);
    if (open?.rowCount === 0) gone.abort(new Error('the client no longer waits for the preview'));
  }, CHECK_INTERVAL_MS);
  return { signal: gone.signal, stop: () => clearInterval(timer) };
}

async function perform(
  services: RunServices,
  connection: Connection,
  variableId: number | null,
  task: PreviewTask,
  signal: AbortSignal,
): Promise<Answer> {
  if (task.kind === 'packages') return { answer: await listPackages(services.sandbox, signal) };
  if (task.kind === 'validate') return { answer: { ...(await readScripts(services.sandbox, task.scripts, signal)) } };
  if (task.kind === 'replay') return { answer: await replayRun(services, connection, task.runId, signal) };
  if (variableId === null) throw new Error(`a task of kind ${task.kind} needs a variable`);
  const declaration = task.kind === 'evaluate' ? task.declaration : undefined;
  const inputIds = declaration?.calculatedVariableFormulas.flatMap(({ variables }) =>
    variables.map((it) => it.variableId),
  );
  const dates = await findDates(services, connection, variableId, task.dates, inputIds ?? []);
  const request: ComputeRequest = {
    variableId,
    changed: { fromMicros: dates.fromMicros, toMicros: dates.toMicros },
    triggerMicros: dates.triggerMicros,
    defaultVersion: defaultVersion(services.clock.nowMillis()),
    ...(declaration && { declaration }),
    ...(task.kind === 'evaluate' ? { pictures: task.pictures } : { pictures: 'svg', script: SAVE_SAMPLE }),
  };
  const computed = await compute(services, connection, request, signal);
  if (task.kind === 'evaluate') return { answer: await describeComputed(computed, dates, request.defaultVersion) };
  // Formulas run in the order of their periods. The sample has the inputs of the formula that runs last.
  const outcome = computed.outcomes.at(-1);
  const file = outcome?.kind === 'ok' ? outcome.files?.find(({ name }) => name === 'sample.rdata')?.bytes : undefined;
  if (file) return { file };
  const { result } = computed;
  if (result.kind === 'failed') return { answer: { error: result.message } };
  const noFormula = `no formula with a script is valid for these dates: ${describeDates(dates)}`;
  return { answer: { error: outcome ? TOO_LARGE : noFormula } };
}

function describeDates({ fromMicros, toMicros }: PreviewedDates): string {
  return `${formatInstant(fromMicros)} to ${formatInstant(toMicros)}`;
}

async function findDates(
  { clock }: RunServices,
  connection: Connection,
  variableId: number,
  given: PreviewDates,
  inputIds: readonly number[],
): Promise<PreviewedDates> {
  const [from, to, trigger] = [given.from, given.to, given.triggerDate].map(instantMicros);
  const toMicros = to ?? from ?? (await findNewest(connection, variableId, inputIds)) ?? clock.nowMillis() * 1000;
  const fromMicros = Math.min(from ?? toMicros, toMicros);
  return { fromMicros, toMicros, triggerMicros: trigger ?? toMicros };
}

async function findNewest(
  connection: Connection,
  variableId: number,
  inputIds: readonly number[],
): Promise<Micros | undefined> {
  const { rows } = await connection.query<{ newest: number | null }>(NEWEST_DATE, [variableId, inputIds]);
  return rows[0]?.newest ?? undefined;
}

function toStorableJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'string' ? toStorableText(member) : member,
  );
}
