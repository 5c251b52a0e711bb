-- What the declarations of calculated variables refer to, whether it still exists or not: a declaration that was accepted
-- stays saved when an input is deleted or changes its unit, and GET /variables?hasProblems=true finds it.

create function declaration_id(value jsonb) returns int language sql immutable parallel safe as $$
  select case when value #>> '{}' ~ '^\d{1,9}$' or (value #>> '{}' ~ '^\d{10}$' and (value #>> '{}')::int8 < 2147483648)
              then nullif((value #>> '{}')::int, 0) end
$$;
comment on function declaration_id is 'id that a client wrote as a number or as digits; null: it is none';

create function declaration_references(calculated jsonb)
returns table (kind text, target_id int, unit_id int) language sql immutable parallel safe as $$
  with formula as (
    select formula.value
    from jsonb_each(case jsonb_typeof(calculated) when 'object' then calculated else '{}' end) member,
         jsonb_array_elements(case jsonb_typeof(member.value) when 'array' then member.value else '[]' end) formula
    where lower(member.key) = 'calculatedvariableformulas' and jsonb_typeof(formula.value) = 'object'
  ), item as (
    select lower(member.key) as list,
           (select jsonb_object_agg(lower(key), value) from jsonb_each(item.value)) as members
    from formula, jsonb_each(formula.value) member,
         jsonb_array_elements(case jsonb_typeof(member.value) when 'array' then member.value else '[]' end) item
    where lower(member.key) in ('variables', 'entities') and jsonb_typeof(item.value) = 'object'
  ), reference as (
    select 'variable' as kind, declaration_id(members -> 'variableid') as target_id,
           declaration_id(members -> 'unitid') as unit_id
    from item where list = 'variables'
    union
    select 'site', declaration_id(members -> 'siteid'), null from item where list = 'entities'
    union
    select 'source', declaration_id(members -> 'sourceid'), null from item where list = 'entities'
  )
  select kind, target_id, unit_id from reference where target_id is not null
$$;
comment on function declaration_references is
  'variables, sites and sources that a declaration names, and the units into which it converts inputs; names in any case';

create table declaration_reference (
  variable_id int not null references variable (id) on delete cascade,
  kind text not null check (kind in ('variable', 'site', 'source')),
  target_id int not null,
  unit_id int
);
comment on table declaration_reference is 'references of variable.calculated, kept by a trigger; the targets may be gone';
comment on column declaration_reference.variable_id is 'the calculated variable';
comment on column declaration_reference.kind is 'table of the target';
comment on column declaration_reference.target_id is 'id of an input, or of the owner of a form';
comment on column declaration_reference.unit_id is 'unit into which the input is converted; null: none';
-- GET /variables?hasProblems=true: the references of each variable.
create index declaration_reference_variable on declaration_reference (variable_id);

create function keep_declaration_references() returns trigger language plpgsql as $$
begin
  delete from declaration_reference where variable_id = new.id;
  insert into declaration_reference (variable_id, kind, target_id, unit_id)
  select new.id, kind, target_id, unit_id from declaration_references(new.calculated);
  return null;
end $$;

create trigger variable_declaration_references_insert after insert on variable
  for each row when (new.calculated is not null) execute function keep_declaration_references();
create trigger variable_declaration_references_update after update of calculated on variable
  for each row when (new.calculated is distinct from old.calculated) execute function keep_declaration_references();

insert into declaration_reference (variable_id, kind, target_id, unit_id)
select variable.id, reference.kind, reference.target_id, reference.unit_id
from variable, declaration_references(variable.calculated) reference where variable.calculated is not null;
