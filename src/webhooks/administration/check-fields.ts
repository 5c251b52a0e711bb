/**
 * What the fields of a webhook say together, and of what there is (R-I1): whether the template suits the type of the body,
 * whether events of the type happen at places at all, and whether the places of the filter are there.
 */
import type { Queryable } from '../../platform/database/database.ts';
import type { ErrorDetail } from '../../platform/errors.ts';
import { invalidInput } from '../../platform/http/lenient.ts';
import { isFilterable } from '../event-type.ts';
import { contentTypeOf } from '../sending/message-headers.ts';
import { validateTemplate } from '../sending/validate-template.ts';
import type { WebhookFields, WebhookFilter } from '../webhook.ts';

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
    and named.id not in (select unnest(webhook.${column}) from webhook where webhook.account_id = $1)`,
).join(' union all');

/**
 * @param stored what it was until now, which stays good: what was accepted once must be accepted as it is read.
 * @throws DomainError invalid_input naming every place of the template, and every id the account does not have.
 */
export async function assertFields(
  queryable: Queryable,
  accountId: number,
  fields: WebhookFields,
  stored?: WebhookFields,
): Promise<void> {
  const problems = [
    ...findTemplateProblems(fields, stored),
    ...describeType(fields),
    ...(await findMissing(queryable, accountId, fields.filter)),
  ];
  if (problems.length > 0) throw invalidInput(problems);
}

/** Whether a template is one depends on the type of the body, which is among the headers. */
function findTemplateProblems(fields: WebhookFields, stored: WebhookFields | undefined): readonly ErrorDetail[] {
  const { bodyTemplate } = fields;
  const contentType = contentTypeOf(fields.headers);
  const isStored = bodyTemplate === stored?.bodyTemplate && contentType === contentTypeOf(stored?.headers ?? {});
  if (bodyTemplate === null || isStored) return [];
  return validateTemplate(bodyTemplate, contentType).map(({ place, message }) => ({
    path: '$.bodyTemplate',
    message: `${message} (${place})`,
  }));
}

function describeType({ eventType, filter }: WebhookFields): readonly ErrorDetail[] {
  if (Object.keys(filter).length === 0 || isFilterable(eventType)) return [];
  const isOfPoints = eventType === 'DataPushCompleted' || eventType === 'FileIngested';
  const otherwise = isOfPoints ? '; subscribe to DataPointsWritten to be told of points of some places' : '';
  return [{ path: '$.filter', message: `must be empty for ${eventType}, which is not of one place${otherwise}` }];
}

async function findMissing(
  queryable: Queryable,
  accountId: number,
  filter: WebhookFilter,
): Promise<readonly ErrorDetail[]> {
  if (Object.keys(filter).length === 0) return [];
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
