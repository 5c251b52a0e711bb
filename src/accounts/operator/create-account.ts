import type { Queryable } from '../../platform/database/database.ts';
import { parseInput } from '../../platform/http/lenient.ts';
import { timeZoneSchema } from '../../structure/catalogue/time-zones.ts';
import { currencySchema, type WrittenAccount } from '../account/account.ts';
import { languageSchema } from '../field-schemas.ts';

export interface NewAccount {
  readonly name: string;
  readonly language?: string;
  /** Time zone as an IANA name; default UTC. */
  readonly timeZoneId?: string;
  /** ISO 4217 code of the currency. */
  readonly currency?: string;
  /** Versions kept per point, 1 to 1000; default 7 (R-C1). */
  readonly versionLimit?: number;
}

/**
 * Creates an account.
 * @returns its id.
 * @throws {Error} when the insert returns no row.
 */
export async function createAccount(database: Queryable, account: NewAccount): Promise<number> {
  const { rows } = await database.query<{ id: number }>(
    `insert into account (name, language, time_zone_id, currency, version_limit)
     values ($1, coalesce($2, 'en'), coalesce($3, 'UTC'), $4, coalesce($5, 7)) returning id`,
    [account.name, account.language, account.timeZoneId, account.currency, account.versionLimit],
  );
  const [row] = rows;
  if (!row) throw new Error('inserting an account returned no id');
  return row.id;
}

/** Options of the command `create-account` that set the account's settings. An absent option is undefined. */
interface AccountOptions {
  readonly language?: string | undefined;
  readonly 'time-zone'?: string | undefined;
  readonly currency?: string | undefined;
}

/** Parses the settings of a new account. @throws {DomainError} invalid_input naming the first refused option. */
export function parseAccountOptions(options: AccountOptions): WrittenAccount {
  return {
    language: parseInput(languageSchema.optional(), options.language, '--language'),
    timeZoneId: parseInput(timeZoneSchema.optional(), options['time-zone'], '--time-zone'),
    currency: parseInput(currencySchema.optional(), options.currency, '--currency'),
  };
}

/** @returns the id of the oldest account with this name; undefined when there is none. */
export async function findAccountByName(database: Queryable, name: string): Promise<number | undefined> {
  const { rows } = await database.query<{ id: number }>('select id from account where name = $1 order by id limit 1', [
    name,
  ]);
  return rows[0]?.id;
}
