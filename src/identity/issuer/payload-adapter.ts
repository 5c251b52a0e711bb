/**
 * oidc-provider's storage in PostgreSQL. A token or authorization code (BEARER_MODELS) is not stored itself: its
 * SHA-256 is the id of its row. Expired rows count as absent; `purgeExpired` deletes them.
 */
import { createHash } from 'node:crypto';
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import type { Queryable } from '../../platform/database/database.ts';
import { isStorableJson, isStorableText, STORABLE_RULE } from '../../platform/database/storable-text.ts';
import type { FindClient } from '../clients/find-client.ts';

const BEARER_MODELS: ReadonlySet<string> = new Set([
  'AccessToken',
  'AuthorizationCode',
  'RefreshToken',
  'ClientCredentials',
  'InitialAccessToken',
  'RegistrationAccessToken',
]);

const IS_LIVE = '(expires_date is null or expires_date > now())';

type Lookup = 'id' | 'uid' | 'user_code';

/**
 * Creates the adapter of one model.
 * @param model name of a model class of oidc-provider. The adapter of `Client` is read-only.
 * @param findClient finds the metadata of a client.
 */
export function createPayloadAdapter(database: Queryable, model: string, findClient: FindClient): Adapter {
  if (model === 'Client') return createClientAdapter(findClient);
  const isBearer = BEARER_MODELS.has(model);
  const key = (id: string) => (isBearer ? createHash('sha256').update(id).digest('hex') : id);
  const find = (column: Lookup, value: string) => findPayload(database, model, column, value);
  return {
    upsert: (id, payload, expiresInSec) => writePayload(database, model, key(id), payload, isBearer, expiresInSec),
    find: async (id) => {
      const payload = await find('id', key(id));
      return payload && { ...payload, jti: id };
    },
    findByUid: (uid) => find('uid', uid),
    findByUserCode: (userCode) => find('user_code', userCode),
    consume: (id) => consumePayload(database, model, key(id)),
    destroy: (id) => run(database, 'delete from oidc_payload where model = $1 and id = $2', [model, key(id)]),
    revokeByGrantId: (grantId) =>
      run(database, 'delete from oidc_payload where model = $1 and grant_id = $2', [model, grantId]),
  };
}

async function run(database: Queryable, text: string, values: readonly unknown[]): Promise<void> {
  await database.query(text, [...values]);
}

/** @throws errors.InvalidRequest that names the first parameter whose characters the database cannot store. */
async function writePayload(
  database: Queryable,
  model: string,
  id: string,
  { jti, ...payload }: AdapterPayload,
  isBearer: boolean,
  expiresInSec: number | undefined,
): Promise<void> {
  if (!isStorableJson(payload)) throw new errors.InvalidRequest(`${findUnstorable(payload)} ${STORABLE_RULE}`);
  await database.query(
    `insert into oidc_payload (model, id, payload, grant_id, uid, user_code, expires_date)
     values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))
     on conflict (model, id) do update set payload = excluded.payload, grant_id = excluded.grant_id,
       uid = excluded.uid, user_code = excluded.user_code, expires_date = excluded.expires_date`,
    [
      model,
      id,
      isBearer ? payload : { ...payload, jti },
      payload.grantId ?? null,
      payload.uid ?? null,
      payload.userCode ?? null,
      expiresInSec ?? null,
    ],
  );
}

/**
 * Finds the parameter that an error message with STORABLE_RULE names.
 * @returns the first name in `params` whose value the database cannot store; if there is none, the word `parameters`.
 */
function findUnstorable({ params = {} }: Pick<AdapterPayload, 'params'>): string {
  return Object.keys(params).find((name) => !isStorableJson(params[name])) ?? 'parameters';
}

async function findPayload(
  database: Queryable,
  model: string,
  column: Lookup,
  value: string,
): Promise<AdapterPayload | undefined> {
  if (!isStorableText(value)) return undefined;
  const { rows } = await database.query<{ payload: AdapterPayload }>(
    `select payload from oidc_payload where model = $1 and ${column} = $2 and ${IS_LIVE}`,
    [model, value],
  );
  return rows[0]?.payload;
}

async function consumePayload(database: Queryable, model: string, id: string): Promise<void> {
  await database.query(
    `update oidc_payload set payload = payload || jsonb_build_object('consumed', extract(epoch from now())::bigint)
     where model = $1 and id = $2`,
    [model, id],
  );
}

function createClientAdapter(findClient: FindClient): Adapter {
  const refuse = async () => {
    throw new Error(
      'the issuer can look up a client by id, but cannot register, change or delete clients; to register a client, use POST /admin/clients or the command admin create-client',
    );
  };
  return {
    find: findClient,
    upsert: refuse,
    findByUid: refuse,
    findByUserCode: refuse,
    consume: refuse,
    destroy: refuse,
    revokeByGrantId: refuse,
  };
}
