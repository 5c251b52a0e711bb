/** The sweep of what the issuer no longer needs. */
import type { Queryable } from '../../platform/database/database.ts';

/** Deletes expired artefacts and grants of the issuer. Returns how many rows went. */
export async function purgeExpired(database: Queryable): Promise<number> {
  const payloads = await database.query('delete from oidc_payload where expires_date <= now()');
  const grants = await database.query('delete from token_grant where expires_date <= now()');
  return (payloads.rowCount ?? 0) + (grants.rowCount ?? 0);
}
