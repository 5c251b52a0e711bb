/**
 * Sends `history-from` and `raw-from` in the initial metadata of a read: for each variable, the instant from which its
 * states are complete (R-F9), and the date from which all its points are stored.
 */
import type { NoteCuts } from '../points/read/history-cuts.ts';
import { noticeHeaders } from '../selection/history-notice.ts';
import type { SendMetadata } from './answer.ts';

/** @returns a function that sends the given cuts and rolled-up dates; it sends nothing when a read has none. */
export function sendCuts(send: SendMetadata): NoteCuts {
  return (cuts, rolledUp) => {
    for (const [name, value] of noticeHeaders({ cuts, rolledUp })) send(name.toLowerCase(), value);
  };
}
