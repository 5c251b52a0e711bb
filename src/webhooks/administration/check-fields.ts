/**
 * Checks that the fields of a webhook fit together (R-I1): the template fits the content type, the filter fits the
 * event type, and the ids of the filter belong to the account. webhook-schema.ts checks each field by itself.
 */
import type { Queryable } from '../../platform/database/database.ts';
import type { ErrorDetail } from '../../platform/errors.ts';
import { invalidInput } from '../../platform/http/lenient.ts';
import { isFilterable } from '../event-type.ts';
import { contentTypeOf } from '../sending/message-headers.ts';
import { validateTemplate } from '../sending/validate-template.ts';
import type { WebhookFields, WebhookFilter } from '../webhook.ts';

const LISTS = [
  { list: 'siteIds', table: 'site', column: 'site_ids' },
  { list: 'sourceIds', table: 'source', column: 'source_ids' },
  { list: 'variableIds', table: 'variable', column: 'variable_ids' },
] as const satisfies readonly { readonly list: keyof WebhookFilter; readonly table: string; readonly column: string }[];

// The id of a deleted entity stays valid if a stored filter of the account lists the id. So clients can write back what
// GET returned.
const MISSING = LISTS.map(
  ({ list, table, column }, index) => `
  select '${list}' as list, named.id from unnest($${index + 2}::int[]) named (id)
  where not exists (select from ${table} entity where entity.id = named.id and entity.account_id = $1)
    and named.id not in (select unnest(webhook.${column}) from webhook where webhook.account_id = $1)`,
).join(' union all');

/**
 * Checks the fields of a webhook against each other and against the account (R-I1).
 * @param stored the webhook before a change. When the change keeps the template and the content type, the template is
 *   not checked again, so that clients can write back what GET returned.
 * @throws {DomainError} invalid_input with the problems of the template and of the filter.
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

/** Checks the template. The content type among the webhook's headers decides whether the template must be JSON. */
function findTemplateProblems(fields: WebhookFields, stored: WebhookFields | undefined): readonly ErrorDetail[] {
  const { bodyTemplate } = fields;
  const contentType = contentTypeOf(fields.headers);
  const isStored = bodyTemplate === stored?.bodyTemplate && contentType === contentTypeOf(stored?.headers ?? {});
  if (bodyTemplate === null || isStored) return [];
  return validateTemplate(bodyTemplate, contentType).map(({ location, message }) => ({
    path: '$.bodyTemplate',
    message: `${message} (${location})`,
  }));
}

function describeType({ eventType, filter }: WebhookFields): readonly ErrorDetail[] {
  if (Object.keys(filter).length === 0 || isFilterable(eventType)) return [];
  return [{ path: '$.filter', message: `must be empty for ${eventType}, which names no site, source or variable` }];
}

async function findMissing(
  queryable: Queryable,
  accountId: number,
  filter: WebhookFilter,
): Promise<readonly ErrorDetail[]> {
  if (Object.keys(filter).length === 0) return [];
  const { rows } = await queryable.query<{ list: string; id: number }>(MISSING, [
    accountId,
    ...LISTS.map(({ list }) => filter[list] ?? []),
  ]);
  const missing = new Set(rows.map(({ list, id }) => `${list} ${id}`));
  return LISTS.flatMap(({ list, table }) =>
    (filter[list] ?? []).flatMap((id, index) =>
      missing.has(`${list} ${id}`)
        ? [
            {
              path: `$.filter.${list}[${index}]`,
              message: `must be the id of a ${table} of the account, got ${id}`,
            },
          ]
        : [],
    ),
  );
}
