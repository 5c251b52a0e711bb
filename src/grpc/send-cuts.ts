/**
 * Sends `history-from` in the initial metadata of a read: the instants from which the states of its variables are
 * complete (R-F9).
 */
import type { NoteCuts } from '../points/read/history-cuts.ts';
import { HISTORY_HEADER, historyHeader } from '../selection/history-notice.ts';
import type { SendMetadata } from './answer.ts';

/** @returns a receiver of cuts that sends them as `history-from`; it sends nothing when every state is complete. */
export function sendCuts(send: SendMetadata): NoteCuts {
  return (cuts) => {
    const historyFrom = historyHeader({ cuts });
    if (historyFrom !== undefined) send(HISTORY_HEADER.toLowerCase(), historyFrom);
  };
}
