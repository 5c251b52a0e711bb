/** Limits the previews a calculator answers at once (R-H9); further tasks wait in the database. */
import type { WakeQueue } from '../../platform/queue.ts';
import type { RunServices } from '../run/run-calculation.ts';
import { answerPreview, findWaitingPreviews } from './answer-preview.ts';
import { PREVIEW_KEY } from './ask-calculator.ts';

export interface Previewer {
  /** Answers a task, or leaves it when `maxAtOnce` are under way: it is woken again when one ends. */
  answer(id: number): Promise<void>;
  /** Keys of the previews that wait for a calculator. */
  findWaiting(): Promise<readonly string[]>;
}

/**
 * Creates the limiter of a calculator's previews (R-H9).
 * @param maxAtOnce previews answered at the same time.
 * @param signal aborts those in progress on a stop.
 */
export function createPreviewer(
  services: RunServices & { readonly queue: WakeQueue },
  maxAtOnce: number,
  signal: AbortSignal,
): Previewer {
  let underWay = 0;
  const findWaiting = async (): Promise<readonly string[]> =>
    (await findWaitingPreviews(services.database)).map((id) => `${PREVIEW_KEY}${id}`);
  return {
    answer: async (id) => {
      if (underWay >= maxAtOnce) return;
      underWay += 1;
      try {
        await answerPreview(services, id, signal);
      } finally {
        underWay -= 1;
      }
      const waiting = await findWaiting();
      if (waiting.length > 0) await services.queue.wake(waiting);
    },
    findWaiting,
  };
}
