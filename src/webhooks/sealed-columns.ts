/**
 * Encrypts and decrypts the columns `secret`, `former_secret` and `headers` of webhooks by means of secret-vault.ts.
 * Encrypts stored values again when there is a new key.
 */

import { type Database, withTransaction } from '../platform/database/database.ts';
import { parseJsonText } from '../platform/json/json-text.ts';
import type { SecretVault } from './secret-vault.ts';
import type { WebhookTarget } from './webhook.ts';

/** The value of the column `headers`: a sealed text, or a plain object. */
export type StoredHeaders = Readonly<Record<string, string>> | string;

/** A row with TARGET_COLUMNS, as the database returns it. */
export type TargetRow = Omit<WebhookTarget, 'headers'> & { readonly headers: StoredHeaders };

/** @returns JSON for the column `headers`: sealed when there are headers and the vault has a key, otherwise plain. */
export function sealHeaders(vault: SecretVault, headers: WebhookTarget['headers'], accountId: number): string {
  const json = JSON.stringify(headers);
  const isPlain = vault.keyId === undefined || Object.keys(headers).length === 0;
  return isPlain ? json : JSON.stringify(vault.seal(json, accountId));
}

/** @returns the headers of a row, decrypted if they are sealed. @throws the errors of `SecretVault.open`. */
export function openHeaders(vault: SecretVault, headers: StoredHeaders, accountId: number): WebhookTarget['headers'] {
  return typeof headers === 'string'
    ? (parseJsonText(vault.open(headers, accountId)) as Readonly<Record<string, string>>)
    : headers;
}

/** @returns the row with decrypted headers and secrets. @throws the errors of `SecretVault.open`. */
export function openTarget<Row extends TargetRow>(
  vault: SecretVault,
  { headers, secrets, ...row }: Row,
  accountId: number,
) {
  return {
    ...row,
    headers: openHeaders(vault, headers, accountId),
    secrets: secrets.map((secret) => vault.open(secret, accountId)),
  };
}

interface SealedRow {
  readonly id: string;
  readonly accountId: number;
  readonly secret: string;
  readonly formerSecret: string | null;
  readonly headers: StoredHeaders;
}

// The query includes deleted webhooks that still have credentials. Therefore, after `renewSecrets`, no row needs an old
// key.
const NEXT = `
  select id, account_id as "accountId", secret, former_secret as "formerSecret", headers from webhook
  where id > $1 and (deleted_date is null or secret <> '' or former_secret is not null or headers <> '{}')
  order by id limit 100 for no key update`;

const RENEW = `
  update webhook set secret = coalesce(renewed.secret, webhook.secret),
    former_secret = coalesce(renewed.former, former_secret), headers = coalesce(renewed.headers::jsonb, webhook.headers)
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) renewed (id, secret, former, headers)
  where webhook.id = renewed.id`;

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Seals the secrets and headers of all webhooks with the first key of the vault. Skips values that this key has already sealed.
 * @returns the number of examined webhooks and the number of changed webhooks.
 */
export async function renewSecrets(
  database: Database,
  vault: SecretVault,
): Promise<{ readonly webhooks: number; readonly renewed: number }> {
  const sum = { webhooks: 0, renewed: 0 };
  for (let after: string | undefined = FIRST_ID; after !== undefined; ) {
    const last: string = after;
    after = await withTransaction(database, async (transaction) => {
      const { rows } = await transaction.query<SealedRow>(NEXT, [last]);
      const renewals = rows.map((row) => renewRow(vault, row)).filter(({ values }) => values.some((it) => it !== null));
      const column = (index: number) => renewals.map(({ values }) => values[index] ?? null);
      await transaction.query(RENEW, [renewals.map(({ id }) => id), column(0), column(1), column(2)]);
      sum.webhooks += rows.length;
      sum.renewed += renewals.length;
      return rows.at(-1)?.id;
    });
  }
  return sum;
}

function renewRow(vault: SecretVault, { id, accountId, secret, formerSecret, headers }: SealedRow) {
  const renewHeaders = (): string | null => {
    if (typeof headers !== 'string') {
      return Object.keys(headers).length === 0 ? null : sealHeaders(vault, headers, accountId);
    }
    const renewed = vault.renew(headers, accountId);
    return renewed === undefined ? null : JSON.stringify(renewed);
  };
  const former = formerSecret === null ? undefined : vault.renew(formerSecret, accountId);
  return { id, values: [vault.renew(secret, accountId) ?? null, former ?? null, renewHeaders()] };
}
