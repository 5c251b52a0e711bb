/** Formats instants and reads accounts for the texts of emails. */
import type { Queryable } from '../../platform/database/database.ts';

/** Formats an instant in the reader's language. @param timeZone IANA name. */
export function writeExpiry(instant: Date, language: string, timeZone = 'UTC'): string {
  // Intl accepts `timeZoneName` together with options such as `year` and `hour`, but not with `dateStyle`.
  const form = new Intl.DateTimeFormat(language, {
    ...{ year: 'numeric', month: 'long', day: 'numeric', hour: '2-digit', minute: '2-digit' },
    ...{ timeZone, timeZoneName: 'short' },
  });
  return form.format(instant);
}

export interface MailAccount {
  readonly name: string;
  readonly timeZoneId: string;
}

/** @returns name and time zone of the account; undefined for null or an account that does not exist. */
export async function findMailAccount(database: Queryable, accountId: number | null): Promise<MailAccount | undefined> {
  const { rows } = await database.query<MailAccount>(
    'select name, time_zone_id as "timeZoneId" from account where id = $1',
    [accountId],
  );
  return rows[0];
}
