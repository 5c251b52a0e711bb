/** How instants and names are written in mails. */
import type { Queryable } from '../platform/database/database.ts';

/** The instant as its reader writes it, in the time zone of the account (UTC without one). */
export function writeExpiry(instant: Date, language: string, timeZone = 'UTC'): string {
  // Together with a zone Intl wants the parts named one by one.
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

/** undefined for a mail of no account. */
export async function findMailAccount(database: Queryable, accountId: number | null): Promise<MailAccount | undefined> {
  const { rows } = await database.query<MailAccount>(
    'select name, time_zone_id as "timeZoneId" from account where id = $1',
    [accountId],
  );
  return rows[0];
}
