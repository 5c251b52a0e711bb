/** Whether what a filter names is there, and whether events of the type happen at places at all (R-I1). */
import type { Queryable } from '../platform/database.ts';
import type { ErrorDetail } from '../platform/errors.ts';
import { invalidInput } from '../platform/lenient.ts';
import { happensAtAPlace } from './event-type-rules.ts';
import type { WebhookFields, WebhookFilter } from './webhook.ts';

const PLACES = [
  { list: 'siteIds', table: 'site', column: 'site_ids' },
  { list: 'sourceIds', table: 'source', column: 'source_ids' },
  { list: 'variableIds', table: 'variable', column: 'variable_ids' },
] as const satisfies readonly { readonly list: keyof WebhookFilter; readonly table: string; readonly column: string }[];

// What was deleted stays in the filters that name it: a webhook that was read must be good to be written, here or anew.
const MISSING = PLACES.map(
  ({ list, table, column }, index) => `
  select '${list}' as list, named.id from unnest($${index + 2}::int[]) named (id)
  where not exists (select from ${table} place where place.id = named.id and place.account_id = $1)
    and not exists (select from webhook where webhook.account_id = $1 and named.id = any(webhook.${column}))`,
).join(' union all');

/** @throws DomainError invalid_input naming every id the account does not have. */
export async function assertFilter(
  queryable: Queryable,
  accountId: number,
  { eventType, filter }: Pick<WebhookFields, 'eventType' | 'filter'>,
): Promise<void> {
  if (Object.keys(filter).length === 0) return;
  const problems = happensAtAPlace(eventType) ? [] : [describeType(eventType)];
  problems.push(...(await findMissing(queryable, accountId, filter)));
  if (problems.length > 0) throw invalidInput(problems);
}

function describeType(eventType: string): ErrorDetail {
  const isOfPoints = eventType === 'DataPushCompleted' || eventType === 'FileIngested';
  const otherwise = isOfPoints ? '; subscribe to DataPointsWritten to be told of points of some places' : '';
  return { path: '$.filter', message: `must be empty for ${eventType}, which is not of one place${otherwise}` };
}

async function findMissing(
  queryable: Queryable,
  accountId: number,
  filter: WebhookFilter,
): Promise<readonly ErrorDetail[]> {
  const { rows } = await queryable.query<{ list: string; id: number }>(MISSING, [
    accountId,
    ...PLACES.map(({ list }) => filter[list] ?? []),
  ]);
  const missing = new Set(rows.map(({ list, id }) => `${list} ${id}`));
  return PLACES.flatMap(({ list, table }) =>
    (filter[list] ?? []).flatMap((id, index) =>
      missing.has(`${list} ${id}`)
        ? [{ path: `$.filter.${list}[${index}]`, message: `must be a ${table} of the account, ${id} does not exist` }]
        : [],
    ),
  );
}
