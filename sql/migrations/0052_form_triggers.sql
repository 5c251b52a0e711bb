-- Changed form values recalculate the variables whose declaration asks for it (R-H5).

create table form_input (
  variable_id int not null references variable (id) on delete cascade,
  account_id int not null,
  kind text not null check (kind in ('Site', 'Source')),
  target_id int,
  path text[] not null
);
comment on table form_input is 'form values that trigger a calculated variable, derived from variable.calculated when it is saved';
comment on column form_input.kind is 'table of the owner of the form';
comment on column form_input.target_id is 'owner of the form; null: the own site or source of the variable';
comment on column form_input.path is 'keys of the value in client_data, outermost first';
-- The edges of a variable: replaced by a save, and found from the variables of a changed site or source.
create index form_input_variable on form_input (variable_id);
-- The edges to a changed owner; the account has edges at all.
create index form_input_target on form_input (account_id, kind, target_id);

create table form_change (
  id bigint generated always as identity primary key,
  account_id int not null,
  variable_id int not null
);
comment on table form_change is 'variables that changed form values trigger, until the relay requests their runs with the event of the change';
-- The relay takes the changes of the accounts of its events.
create index form_change_account on form_change (account_id);

create function note_form_change() returns trigger language plpgsql as $$
declare
  owner_kind text := tg_argv[0];
begin
  if not exists (select from form_input where account_id = new.account_id) then
    return null;
  end if;
  insert into form_change (account_id, variable_id)
  select new.account_id, variable_id from (
    select variable_id, path from form_input
    where account_id = new.account_id and kind = owner_kind and target_id = new.id
    union all
    select edge.variable_id, edge.path
    from source
    join variable on variable.source_id = source.id
    join form_input edge on edge.variable_id = variable.id
    where edge.kind = owner_kind and edge.target_id is null
      and case owner_kind when 'Site' then source.site_id else source.id end = new.id
  ) edge
  where old.client_data #> path is distinct from new.client_data #> path
  group by variable_id;
  return null;
end $$;
comment on function note_form_change is 'notes the variables triggered by the changed values of a site or source';

create trigger site_form_change after update of client_data on site
  for each row when (new.client_data is distinct from old.client_data) execute function note_form_change('Site');
create trigger source_form_change after update of client_data on source
  for each row when (new.client_data is distinct from old.client_data) execute function note_form_change('Source');

alter table calculation_request drop constraint calculation_request_trigger_check;
alter table calculation_request add constraint calculation_request_trigger_check
  check (trigger in ('Input', 'Schedule', 'ForceUpdate', 'Form'));
