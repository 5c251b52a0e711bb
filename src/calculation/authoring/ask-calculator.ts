/** The API's side of previews: inserts a task, wakes the calculators and waits for the answer (R-H9). */
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import type { MemberQueue } from '../../platform/queue.ts';
import { wakeTurns } from '../turns/turn-wake-ups.ts';
import type { PreviewAnswer, PreviewTask } from './preview-task.ts';

// Maximum time that the API waits for the answer to a preview: the preview may wait for other previews, and its script
// may run up to its limit of wall time.
export const PATIENCE_MS = 90_000;
/**
 * Maximum number of open previews of one account. Each open preview costs the API about five queries per second.
 * Simultaneous requests can exceed the maximum.
 */
const MAX_OPEN = 20;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [10, 200];
const CALCULATOR_CHECK_MS = 2000;
// The API gives up after this number of consecutive checks that find no calculator. One check is not enough, because a
// calculator that restarts or reconnects may be missing in that check.
const MISSING_CHECKS = 2;

const TAKE_ANSWER = `delete from calculation_preview where id = $1 and state = 'Done' returning answer, file`;

export interface Asker {
  readonly database: Database;
  readonly queue: Pick<MemberQueue, 'wakeMembers' | 'countWorkers'>;
}

export interface Question {
  readonly accountId: number;
  /** Id of the variable; null for a task that concerns no variable. */
  readonly variableId: number | null;
  readonly task: PreviewTask;
}

/**
 * Hands a preview task to a calculator and waits for its answer (R-H9).
 * @param signal signal that aborts when the client disconnects. The row of the preview is then deleted, and the
 * calculator stops the preview.
 * @throws {DomainError} dependency_unavailable when no calculator runs, or when no calculator answers within 90 s;
 * queue_full when the account already has MAX_OPEN open previews.
 * @throws an AbortError when the signal is aborted.
 */
export async function askCalculator(
  asker: Asker,
  { accountId, variableId, task }: Question,
  signal: AbortSignal,
): Promise<PreviewAnswer> {
  const { database, queue } = asker;
  const { rows } = await database.query<{ id: number }>(
    `insert into calculation_preview (account_id, variable_id, task) select $1, $2, $3
     where (select count(*) from calculation_preview
            where account_id = $1 and created_date > clock_timestamp() - $5 * interval '1 millisecond') < $4
     returning id`,
    // A row older than PATIENCE_MS is not counted, because nothing waits for its answer any more.
    [accountId, variableId, JSON.stringify(task), MAX_OPEN, PATIENCE_MS],
  );
  const [row] = rows;
  if (!row) {
    const message = `an account may have at most ${MAX_OPEN} previews at the same time; try again when one has ended`;
    throw new DomainError('queue_full', message);
  }
  const { id } = row;
  // The calculators' sweeper finds the task when the wake-up is lost.
  await wakeTurns(queue, [{ accountId, urgency: 'preview', id }]);
  try {
    return await awaitAnswer(asker, id, signal);
  } finally {
    await database.query('delete from calculation_preview where id = $1', [id]);
  }
}

async function awaitAnswer({ database, queue }: Asker, id: number, signal: AbortSignal): Promise<PreviewAnswer> {
  const giveUpMs = performance.now() + PATIENCE_MS;
  const assertCalculator = openCalculatorCheck(queue);
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.3, LONGEST_PAUSE_MS)) {
    const { rows } = await database.query<{ answer: PreviewAnswer['answer'] | null; file: Buffer | null }>({
      name: 'calculation-take-answer',
      text: TAKE_ANSWER,
      values: [id],
    });
    const [row] = rows;
    if (row) return { answer: row.answer ?? undefined, file: row.file ?? undefined };
    if (performance.now() > giveUpMs) break;
    await assertCalculator();
    await pause(pauseMs, undefined, { signal });
  }
  const rule = `no calculator of this service answered within ${PATIENCE_MS / 1000} s`;
  const causes = 'the calculators are busy or cannot run R, or this request takes too long';
  throw new DomainError(
    'dependency_unavailable',
    `${rule}: ${causes}; try again later; if the request has a range of dates, shorten the range`,
  );
}

/**
 * @returns a check that queries Redis at most every 2 s, and throws dependency_unavailable when two consecutive queries
 * find no calculator.
 */
function openCalculatorCheck(queue: Asker['queue']): () => Promise<void> {
  let nextMs = performance.now() + CALCULATOR_CHECK_MS;
  let missing = 0;
  return async () => {
    if (performance.now() < nextMs) return;
    missing = (await queue.countWorkers()) === 0 ? missing + 1 : 0;
    nextMs = performance.now() + CALCULATOR_CHECK_MS;
    if (missing < MISSING_CHECKS) return;
    throw new DomainError(
      'dependency_unavailable',
      'R cannot be run now, because no calculator of this service is running; try again later',
    );
  };
}
