/** Finds the operation of a re-sent push (R-D7). */
import type { Database } from '../../platform/database/database.ts';
import { type PushAnswer, toAnswer } from '../push-answer.ts';

const HOURS = 24;

const FIND = `
  select label, accepted_elements as "acceptedElements", accepted_readings as "acceptedReadings", rejected, warnings,
         accepted_date < now() - interval '${HOURS} hours' as "isOld"
  from push_operation where resend_key = $1`;

const FORGET = `
  update push_operation set resend_key = null
  where resend_key = $1 and accepted_date < now() - interval '${HOURS} hours'`;

type Row = Parameters<typeof toAnswer>[0] & { readonly isOld: boolean };

/** @returns the first answer; undefined if it is at least 24 hours old, after freeing the key. */
export async function findResent(database: Database, resendKey: Buffer): Promise<PushAnswer | undefined> {
  const { rows } = await database.query<Row>(FIND, [resendKey]);
  const [row] = rows;
  if (row && !row.isOld) return toAnswer(row);
  await database.query(FORGET, [resendKey]);
  return undefined;
}
