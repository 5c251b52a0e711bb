/**
 * Compares the staged rows of sites, sources and variables with the account: finds the parents of each row and the
 * stored resource that the row matches, gives new resources their ids, and records which fields change. Each statement
 * covers all rows of a kind. Writes only to the staged rows, the problems of the import and a temporary table.
 */
import type { Transaction } from '../../../platform/database/database.ts';
import { isOfAccount, KINDS, type Kind, type KindName, keyExpression, REFERENCE } from '../document/kinds.ts';
import { MAX_PROBLEMS } from './stage-rows.ts';

/** Id and account of an import that is being processed. */
export interface ImportRef {
  readonly id: string;
  readonly accountId: number;
}

/** SQL expression for the parent id of a staged row. For a site, the parent id is 0. */
const PARENT: Readonly<Record<KindName, string>> = { sites: '0', sources: 'r.site_id', variables: 'r.source_id' };

/**
 * SQL that selects the stored resources to compare with the rows. $1 is the import, $2 is the account. For sources and
 * variables, `resolveParents` must have stored the parents in the rows.
 */
const STORED: Readonly<Record<KindName, string>> = {
  sites: 'select 0 as parent_id, t.* from site t where account_id = $2 and $1::uuid is not null',
  sources: storedBelow('source', 'site_id', `kind <> 'sites'`),
  variables: storedBelow('variable', 'source_id', `kind = 'variables'`),
};

function storedBelow(table: string, parent: string, rows: string): string {
  return `select t.${parent} as parent_id, t.*
    from (select distinct ${parent} from structure_import_row
          where import_id = $1 and ${rows} and ${parent} is not null) parent
    join ${table} t using (${parent}) where ${isOfAccount('t', '$2')}`;
}

const CREATE_ENTRIES = `
  create temp table import_entry (
    kind text, parent_id int, key text, name text, id int, occurrence int, total int
  ) on commit drop`;
const INDEX_ENTRIES = [
  'create index on import_entry (kind, parent_id, key)',
  // With 50,000 sites in import_entry, reporting 1,000 unknown site names takes 0.15 s; without this index, 5.8 s.
  `create index on import_entry (kind, parent_id, name) where kind <> 'variables'`,
];

/** Plans the import. @returns the number of problems found. */
export async function planImport(transaction: Transaction, { id, accountId }: ImportRef): Promise<number> {
  let problems = 0;
  const run = async (text: string, values: readonly unknown[] = [id]): Promise<void> => {
    const { rowCount } = await transaction.query(text, [...values]);
    if (text.startsWith('insert into structure_import_problem')) problems += rowCount ?? 0;
  };
  await run(
    `update structure_import_row set site_id = null, source_id = null, target_id = null, action = null, changes = null
     where import_id = $1 and kind in ('sites', 'sources', 'variables') and (action is not null or target_id is not null or site_id is not null)`,
  );
  await run(CREATE_ENTRIES, []);
  for (const statement of INDEX_ENTRIES) await run(statement, []);
  for (const kind of [KINDS.sites, KINDS.sources, KINDS.variables]) {
    if (kind.name === 'sources') await resolveParents(run, id, 'site', `kind in ('sources', 'variables')`, '0');
    if (kind.name === 'variables') await resolveParents(run, id, 'source', `kind = 'variables'`, 'r.site_id');
    await matchRows(run, kind, id, accountId);
    await compareRows(run, kind);
  }
  await run(SEVERAL_DEFAULTS);
  return problems;
}

type Run = (text: string, values?: readonly unknown[]) => Promise<void>;

const problem = (select: string) =>
  `insert into structure_import_problem (import_id, path, message) ${select} limit ${MAX_PROBLEMS}`;

/**
 * Finds the parent of each row by key, and reports the rows for which it finds no parent or several parents. A parent
 * that has an identifier is also found by its name, if no other parent with an identifier has the same name.
 */
async function resolveParents(
  run: Run,
  id: string,
  parent: 'site' | 'source',
  rows: string,
  within: string,
): Promise<void> {
  const entry = `e.kind = '${parent}s' and e.parent_id = ${within} and e.key = r.${parent}_key`;
  const occurrence = `r.${parent}_occurrence`;
  await run(
    `update structure_import_row r set ${parent}_id = e.id from import_entry e
     where r.import_id = $1 and r.${rows} and ${entry} and e.occurrence = coalesce(${occurrence}, 1)
       and (${occurrence} is not null or e.total = 1)`,
  );
  await run(
    `update structure_import_row r set ${parent}_id = e.id from (${uniqueNames(`${parent}s`)}) e
     where r.import_id = $1 and r.${rows} and r.${parent}_id is null and ${occurrence} is null
       and e.parent_id = ${within} and '~' || e.name = r.${parent}_key
       and not exists (select from import_entry e where ${entry})`,
  );
  const several = `(select e.total from import_entry e where ${entry} and e.occurrence = 1)`;
  const named = `(select count(*) from import_entry e where e.kind = '${parent}s' and e.parent_id = ${within}
    and e.key like '=%' and e.name = substr(r.${parent}_key, 2))`;
  const place = parent === 'source' ? ' at this site' : '';
  const advice = `set ${REFERENCE[`${parent}s` as const].own} to the identifier of the ${parent}`;
  const fact = `every ${parent} with this name has an identifier (%s found); ${advice}`;
  await run(
    problem(`select $1, r.place, case when ${occurrence} is null and coalesce(${several}, 0) > 1
         then format('names a ${parent} by %s, which %s ${parent}s have; set ${parent}Occurrence to 1 for the lowest id, 2 for the next', ${words(`r.${parent}_key`)}, ${several})
         when ${several} is null and r.${parent}_key like '~%' and ${named} > 0
         then format('names a ${parent} by %s, but ${fact}', ${words(`r.${parent}_key`)}, ${named})
         else format('names a ${parent} that neither the account nor a valid row of the document has${place}: %s%s',
           ${words(`r.${parent}_key`)}, ', ${parent}Occurrence ' || ${occurrence}) end
       from structure_import_row r
       where r.import_id = $1 and r.${rows} and r.${parent}_id is null and ${within} is not null
       order by r.kind, r.ordinal`),
    [id],
  );
}

/**
 * SQL that returns the unique names of the resources that have an identifier, each with the id of the resource. A name
 * is unique when only one of these resources has the name within the same parent.
 */
const uniqueNames = (kinds: string) => `
  select parent_id, name, min(id) as id from import_entry
  where kind = '${kinds}' and key like '=%' and name <> '' group by parent_id, name having count(*) = 1`;

/** Formats a key for a message. */
const words = (key: string) =>
  `case when ${key} like '=%' then 'the identifier ' else 'the name ' end || to_json(substr(${key}, 2))`;

async function matchRows(run: Run, kind: Kind, id: string, accountId: number): Promise<void> {
  const { name } = kind;
  const parent = PARENT[name];
  const same = `e.kind = '${name}' and e.parent_id = ${parent} and e.key = r.key`;
  const mine = `r.import_id = $1 and r.kind = '${name}'`;
  await run(
    `insert into import_entry
     select '${name}', parent_id, key, name, id, row_number() over (partition by parent_id, key order by id),
            count(*) over (partition by parent_id, key)
     from (select parent_id, ${keyExpression(kind, 's')} as key, name, id from (${STORED[name]}) s) keyed`,
    [id, accountId],
  );
  await run('analyze import_entry', []);
  await run(
    `update structure_import_row r set target_id = e.id from import_entry e
     where ${mine} and ${same} and e.occurrence = coalesce(r.occurrence, 1) and (r.occurrence is not null or e.total = 1)`,
  );
  await run(
    `update structure_import_row r set target_id = e.id from (${uniqueNames(name)}) e
     where ${mine} and r.target_id is null and r.occurrence is null and e.parent_id = ${parent} and '~' || e.name = r.key
       and not exists (select from import_entry e where ${same})
       and not exists (select from structure_import_row o where o.import_id = $1 and o.kind = r.kind and o.target_id = e.id)`,
  );
  await run(
    problem(`select $1, r.place, format('is ambiguous: %s ${name} have %s; set occurrence to 1 for the lowest id, 2 for the next', e.total, ${words('r.key')})
       from structure_import_row r join import_entry e on ${same} and e.occurrence = 1 and e.total > 1
       where ${mine} and r.target_id is null and r.occurrence is null order by r.ordinal`),
  );
  await run(problem(repeatedKeys(parent, mine)));
  await createRows(run, kind, mine, parent, same);
}

/** SQL that finds the rows that name the same resource as an earlier row, with a message for each. */
const repeatedKeys = (parent: string, mine: string) => `
  select $1, place, 'repeats the key of ' || first_place from (
    select r.place, r.ordinal, first_value(r.place) over w as first_place, row_number() over w as n
    from structure_import_row r where ${mine} and ${parent} is not null
    window w as (partition by ${parent}, coalesce(r.target_id::text, r.key || ' ' || coalesce(r.occurrence, 1)) order by r.ordinal)
  ) repeated where n > 1 order by ordinal`;

/**
 * Plans a new resource for each row that matches no stored resource. Reports rows whose occurrence number is not the
 * next one for their key, and rows without a required name. The new ids ascend in document order, so that an export
 * lists the resources in this order.
 */
async function createRows(run: Run, { name, resource }: Kind, mine: string, parent: string, same: string) {
  const isNew = `${mine} and r.target_id is null and ${parent} is not null`;
  await run(
    problem(`select $1, place, format('occurrence must be %s, the next number for this key, got %s', expected, occurrence)
       from (select r.place, r.ordinal, r.occurrence,
               coalesce((select max(e.total) from import_entry e where ${same}), 0)
                 + row_number() over (partition by ${parent}, r.key order by r.ordinal) as expected
             from structure_import_row r where ${isNew}) r
       where occurrence <> expected order by ordinal`),
  );
  if (resource.required.includes('name')) {
    await run(
      problem(`select $1, r.place, 'must have a name, because the account does not have the resource yet'
      from structure_import_row r where ${isNew} and not r.members ? 'name' order by r.ordinal`),
    );
  }
  await run(
    `update structure_import_row r set action = 'Created', target_id = given.id from (
       select ordinal, nextval(pg_get_serial_sequence('${resource.table}', 'id'))::int as id from (
         select r.ordinal from structure_import_row r where ${isNew} order by r.ordinal) ordered) given
     where ${mine} and r.ordinal = given.ordinal`,
  );
  // Adds the new resources to import_entry, so that the rows of their children find them as parents. New variables are
  // not added, because a variable is never a parent.
  if (name === 'variables') return;
  await run(
    `insert into import_entry
     select '${name}', ${parent}, r.key, coalesce(r.members ->> 'name', ''), r.target_id, coalesce(r.occurrence, 1), 1
     from structure_import_row r where ${mine} and r.action = 'Created'`,
  );
  // Without statistics of the new rows, the query planner joins them row by row: 30 s for 10,000 rows.
  await run('analyze import_entry', []);
  await run(
    `update import_entry e set total = counted.total from (
       select parent_id, key, count(*) as total from import_entry where kind = '${name}'
       group by parent_id, key having count(*) > 1) counted
     where e.kind = '${name}' and e.parent_id = counted.parent_id and e.key = counted.key and e.total <> counted.total`,
    [],
  );
}

/** Records which fields of existing resources the import changes. */
async function compareRows(run: Run, { name, resource: { table } }: Kind): Promise<void> {
  await run(
    `update structure_import_row r set action = case when changed.changes is null then 'Left' else 'Changed' end,
            changes = changed.changes
     from (
       select r.ordinal, case when to_jsonb(t) || r.members <> to_jsonb(t) then (
           select jsonb_object_agg(field, jsonb_build_object('from', to_jsonb(t) -> field, 'to', r.members -> field))
           from jsonb_object_keys(r.members) field where to_jsonb(t) -> field is distinct from r.members -> field) end as changes
       from structure_import_row r join ${table} t on t.id = r.target_id
       where r.import_id = $1 and r.kind = '${name}' and r.action is null) changed
     where r.import_id = $1 and r.kind = '${name}' and r.ordinal = changed.ordinal`,
  );
}

/** SQL that reports the rows that would give a source several default variables. */
const SEVERAL_DEFAULTS = problem(`
  select $1, given.place, 'isDefault can be true for only one variable of a source; '
    || case when others.id is null then format('%s also sets isDefault for this source', given.other)
         else format('variable %s already is the default of this source: set its isDefault to false in the document',
           others.id) end
  from (
    select r.place, r.ordinal, r.source_id, r.target_id,
           coalesce(lag(r.place) over of_source, lead(r.place) over of_source) as other
    from structure_import_row r
    where r.import_id = $1 and r.kind = 'variables' and r.members ->> 'is_default' = 'true'
      and (r.action = 'Created' or r.changes ? 'is_default')
    window of_source as (partition by r.source_id order by r.ordinal)
  ) given cross join lateral (
    select min(v.id) as id from variable v
    where v.source_id = given.source_id and v.is_default and v.id <> given.target_id
      and not exists (
        select from structure_import_row o where o.import_id = $1 and o.kind = 'variables' and o.target_id = v.id
          and o.members ->> 'is_default' = 'false')
  ) others
  where others.id is not null or given.other is not null order by given.ordinal`);
