/** The API's side of previews: inserts a task, wakes the calculators and waits for the answer (R-H9). */
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import type { WakeQueue } from '../../platform/queue.ts';
import type { PreviewAnswer, PreviewTask } from './preview-task.ts';

/** Prefix of preview tasks in the calculators' queue; keys without it are variable ids. */
export const PREVIEW_KEY = 'preview:';

// A script may use its whole wall time, and other previews may come before it.
const PATIENCE_MS = 90_000;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [10, 200];

const TAKE_ANSWER = `delete from calculation_preview where id = $1 and state = 'Done' returning answer, file`;

export interface Asker {
  readonly database: Database;
  readonly queue: WakeQueue;
}

export interface Question {
  readonly accountId: number;
  readonly variableId: number;
  readonly task: PreviewTask;
}

/**
 * Hands a preview task to a calculator and waits for its answer (R-H9).
 * @param signal aborted when the client has gone.
 * @throws {DomainError} dependency_unavailable when no calculator answers within 90 s; the signal's reason.
 */
export async function askCalculator(
  { database, queue }: Asker,
  { accountId, variableId, task }: Question,
  signal: AbortSignal,
): Promise<PreviewAnswer> {
  const { rows } = await database.query<{ id: number }>(
    'insert into calculation_preview (account_id, variable_id, task) values ($1, $2, $3) returning id',
    [accountId, variableId, JSON.stringify(task)],
  );
  const id = rows[0]?.id ?? 0;
  // The calculators' sweeper finds the task when the wake-up is lost.
  await queue.wake([`${PREVIEW_KEY}${id}`]).catch(() => undefined);
  try {
    return await awaitAnswer(database, id, signal);
  } finally {
    await database.query('delete from calculation_preview where id = $1', [id]);
  }
}

async function awaitAnswer(database: Database, id: number, signal: AbortSignal): Promise<PreviewAnswer> {
  const giveUpMs = performance.now() + PATIENCE_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.3, LONGEST_PAUSE_MS)) {
    const { rows } = await database.query<{ answer: PreviewAnswer['answer'] | null; file: Buffer | null }>({
      name: 'calculation-take-answer',
      text: TAKE_ANSWER,
      values: [id],
    });
    const [row] = rows;
    if (row) return { answer: row.answer ?? undefined, file: row.file ?? undefined };
    if (performance.now() > giveUpMs) break;
    await pause(pauseMs, undefined, { signal });
  }
  throw new DomainError('dependency_unavailable', `no calculator answered within ${PATIENCE_MS / 1000} s; try again`);
}
