/**
 * The operator's command `feature` (§4.1): adds a feature to an account, and sets the highest level that users can get.
 * The levels that users already have do not change.
 */
import { type Database, type Transaction, withTransaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { FEATURE_CATALOGUE } from '../../structure/catalogue/own-catalogues.ts';
import { addEntry } from '../../structure/catalogue/own-entries.ts';
import { type AuditActor, writeAudit } from '../audit/audit.ts';
import { type FeatureLevel, listAccountFeatures } from '../members/features.ts';

const LEVELS = ['None', 'Read', 'Write', 'Admin'] as const satisfies readonly FeatureLevel[];

/**
 * Adds or changes the feature `name`; without `name`, changes nothing.
 * @returns a line for each feature of the account.
 * @throws {DomainError} invalid_input for a level without a name; the errors of `setFeature`.
 */
export async function describeFeatures(
  database: Database,
  auditor: AuditActor,
  accountId: number,
  { name, level }: { readonly name?: string | undefined; readonly level?: string | undefined },
): Promise<readonly string[]> {
  if (name === undefined && level !== undefined) throw new DomainError('invalid_input', '--level needs --name');
  const features = await withTransaction(database, async (transaction) => {
    if (name !== undefined) await setFeature(transaction, auditor, accountId, { name, level });
    return listAccountFeatures(transaction, accountId, 'Feature');
  });
  return features.map((feature) => `${feature.id} ${feature.name}: ${feature.level}`);
}

/**
 * Adds the feature `name` if the account lacks it, ignoring case. If `level` is given, sets the feature's highest
 * level.
 * @throws {DomainError} invalid_input for an unknown level; the errors of `addEntry`.
 */
async function setFeature(
  transaction: Transaction,
  auditor: AuditActor,
  accountId: number,
  { name, level: written }: { readonly name: string; readonly level: string | undefined },
): Promise<void> {
  const level = written === undefined ? undefined : toLevel(written);
  const features = await listAccountFeatures(transaction, accountId, 'Feature');
  const known = features.find((feature) => feature.name.toLowerCase() === name.trim().toLowerCase());
  const feature = known ?? (await addEntry(transaction, accountId, FEATURE_CATALOGUE, { name }));
  const target = { targetId: String(feature.id), targetName: feature.name };
  if (!known) {
    await writeAudit(transaction, auditor, {
      ...{ action: 'CatalogueEntryCreated', ...target, details: { catalogue: FEATURE_CATALOGUE.label } },
    });
  }
  if (level === undefined) return;
  // A feature without a row in `account_feature` has the level `Admin`.
  await transaction.query(
    `delete from account_feature where account_id = $1 and kind = 'Feature' and feature_id = $2`,
    [accountId, feature.id],
  );
  if (level !== 'Admin') {
    await transaction.query(
      `insert into account_feature (account_id, kind, feature_id, level) values ($1, 'Feature', $2, $3)`,
      [accountId, feature.id, level],
    );
  }
  await writeAudit(transaction, auditor, { action: 'FeaturesChanged', ...target, details: { level } });
}

function toLevel(text: string): FeatureLevel {
  const level = LEVELS.find((name) => name.toLowerCase() === text.toLowerCase());
  if (level) return level;
  throw new DomainError('invalid_input', `--level must be one of ${LEVELS.join(', ')}, got ${text}`);
}
