/**
 * Sends `history-from` and `raw-from` in the initial metadata of a read (R-F9), with the values that history-notice.ts
 * builds for the REST headers of the same names.
 */
import type { NoteCuts } from '../points/read/history-cuts.ts';
import { noticeHeaders } from '../selection/history-notice.ts';
import type { SendMetadata } from './answer.ts';

/**
 * @returns a function that sends, as metadata, the history cuts (history-cuts.ts) and the rolled-up variables of a read.
 */
export function sendCuts(send: SendMetadata): NoteCuts {
  return (cuts, rolledUp) => send(noticeHeaders({ cuts, rolledUp }));
}
