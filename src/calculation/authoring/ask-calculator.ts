/** Hands a task to whichever calculator takes it, and waits for the answer (R-H9). */
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import type { WakeQueue } from '../../platform/queue.ts';
import type { PreviewAnswer, PreviewTask } from './preview-task.ts';

/** Keys of this form in the queue of the calculators are tasks; the others are variables. */
export const PREVIEW_KEY = 'preview:';

// A script may take its whole wall time, and others may be before it.
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
 * @param signal of the client: nobody waits for an answer it no longer wants.
 * @throws DomainError dependency_unavailable when no calculator answers in time.
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
  // A wake-up that got lost is made good by the sweeper of the calculators.
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
  throw new DomainError('dependency_unavailable', 'no calculator answered in time');
}
