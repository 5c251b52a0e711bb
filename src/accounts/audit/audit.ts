/** The audit trail of administrative changes and impersonations (R-B14). */
import type { Caller } from '../../identity/caller/caller.ts';
import type { Queryable } from '../../platform/database/database.ts';

export const AUDIT_ACTIONS = [
  'AccountCreated',
  'AccountUpdated',
  'UserCreated',
  'UserUpdated',
  'UserDeleted',
  'UserLocked',
  'UserUnlocked',
  'PasswordResetRequested',
  'ClaimsAdded',
  'ClaimsEdited',
  'ClaimsRemoved',
  'FeaturesChanged',
  'SecondaryAccessesChanged',
  'SitesGranted',
  'SitesRevoked',
  'UserAddedToAccount',
  'UserRemovedFromAccount',
  'InvitationCreated',
  'InvitationResent',
  'InvitationDeleted',
  'InvitationAccepted',
  'ImpersonationStarted',
  'MapperCreated',
  'MapperUpdated',
  'MapperDeleted',
  'WebhookCreated',
  'WebhookUpdated',
  'WebhookDeleted',
  'WebhookReplayed',
  'WebhookTested',
  'SiteDeleted',
  'SourceDeleted',
  'VariableDeleted',
  'FormCreated',
  'FormUpdated',
  'FormDeleted',
  'CatalogueEntryCreated',
  'CatalogueEntryUpdated',
  'CatalogueEntryDeleted',
  'PointsDeleted',
  'VersionsPurged',
  'RetentionSaved',
  'RetentionRemoved',
  'PointsRolledUp',
  'ViewCreated',
  'ViewUpdated',
  'ViewDeleted',
  'ClientCreated',
  'ClientSecretReplaced',
  'ClientUpdated',
  'ClientDeleted',
  'SigningKeyAdded',
  'BatchesRetried',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export interface NewAuditEntry {
  readonly action: AuditAction;
  readonly targetId?: string;
  readonly targetName?: string;
  /** Describes the change; never holds secrets. */
  readonly details?: Readonly<Record<string, unknown>>;
  /**
   * Accounts whose managers may read the entry; default: the caller's account. With an empty list, only ADMIN users may
   * read it.
   */
  readonly accountIds?: readonly number[];
}

/**
 * Who made the change. `requestId` is null when no request caused the change. `accountId` is null for an operator
 * command that concerns no single account.
 */
export interface AuditActor {
  readonly caller: Pick<Caller, 'userId' | 'userName' | 'actor'> & { readonly accountId: number | null };
  readonly requestId: string | null;
}

/** Maximum entries per page. */
export const MAX_AUDIT_PAGE = 10_000;

/** Values of the query parameter `scope`. */
export const AUDIT_SCOPES = ['Account', 'Operator', 'All'] as const;

/** Entries to list: those of one account (`account`), those that belong to no account (`operator`), or all. */
export type AuditScope =
  | { readonly kind: 'account'; readonly accountId: number }
  | { readonly kind: 'operator' }
  | { readonly kind: 'all' };

export interface AuditFilter {
  /** Start of the period, inclusive. */
  readonly from?: string | undefined;
  /** End of the period, exclusive. */
  readonly to?: string | undefined;
  /** Selects the entries whose user, or the ADMIN who impersonated the user, has this id. */
  readonly userId?: string | undefined;
  readonly targetId?: string | undefined;
  readonly action?: AuditAction | undefined;
}

export interface AuditEntry {
  readonly id: number;
  /** Account whose managers may read the entry; null when only ADMIN users may read it. */
  readonly accountId: number | null;
  readonly date: string;
  readonly userId: string;
  readonly userName: string;
  /** The ADMIN who impersonated the user; null without impersonation. */
  readonly impersonator: { readonly userId: string; readonly userName: string } | null;
  readonly action: AuditAction;
  readonly targetId: string | null;
  readonly targetName: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly requestId: string | null;
}

/** Writes the entry once for each of its accounts, or once without an account when the entry has none (R-B14). */
export async function writeAudit(
  transaction: Queryable,
  { caller, requestId }: AuditActor,
  entry: NewAuditEntry,
): Promise<void> {
  const { accountIds = caller.accountId === null ? [] : [caller.accountId] } = entry;
  await transaction.query(
    `insert into audit_entry (account_id, user_id, user_name, actor_user_id, actor_user_name, action, target_id,
       target_name, details, request_id)
     select account_id, $2, $3, $4, $5, $6, $7, $8, $9::jsonb, $10 from unnest($1::int[]) account_id`,
    [
      accountIds.length > 0 ? accountIds : [null],
      caller.userId,
      caller.userName,
      caller.actor?.userId,
      caller.actor?.userName,
      entry.action,
      entry.targetId,
      entry.targetName,
      JSON.stringify(entry.details ?? {}),
      requestId,
    ],
  );
}

/** @returns the SQL condition for the entries of `scope` that match the filter, and the values of parameters 1 to 6. */
function matching(scope: AuditScope, { from, to, userId, targetId, action }: AuditFilter) {
  const [accountId, isOfScope] = scopeSql(scope);
  const where = `${isOfScope} and date >= coalesce($2, '-infinity'::timestamptz)
    and date < coalesce($3, 'infinity'::timestamptz) and ($4::text is null or $4 in (user_id, actor_user_id))
    and ($5::text is null or target_id = $5) and ($6::text is null or action = $6)`;
  return { where, values: [accountId, from, to, userId, targetId, action] };
}

/** Counts the entries of the scope that match the filter (R-B14). */
export async function countAudit(database: Queryable, scope: AuditScope, filter: AuditFilter): Promise<number> {
  const { where, values } = matching(scope, filter);
  const { rows } = await database.query<{ count: number }>(`select count(*) from audit_entry where ${where}`, values);
  return rows[0]?.count ?? 0;
}

/** Lists the entries of the scope that match the filter, newest first (R-B14). */
export async function listAudit(
  database: Queryable,
  scope: AuditScope,
  filter: AuditFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly AuditEntry[]> {
  const { where, values } = matching(scope, filter);
  const { rows } = await database.query<AuditEntry>(
    `select id, account_id as "accountId", date, user_id as "userId", user_name as "userName",
       case when actor_user_id is not null
            then jsonb_build_object('userId', actor_user_id, 'userName', actor_user_name) end as impersonator,
       action, target_id as "targetId", target_name as "targetName", details, request_id as "requestId"
     from audit_entry where ${where} order by id desc limit $7 offset $8`,
    [...values, limit, offset],
  );
  return rows;
}

/** @returns the value of parameter 1, and the SQL condition that selects the entries of the scope. */
function scopeSql(scope: AuditScope): readonly [accountId: number | null, condition: string] {
  switch (scope.kind) {
    case 'account':
      return [scope.accountId, 'account_id = $1::int'];
    case 'operator':
      return [null, '$1::int is null and account_id is null'];
    case 'all':
      return [null, '$1::int is null'];
  }
}
