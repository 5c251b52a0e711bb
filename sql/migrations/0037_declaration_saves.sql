-- Every saved declaration of a variable is kept, with its author and note (R-H12).
create table declaration_save (
  id bigint generated always as identity primary key,
  account_id int not null,
  variable_id int not null references variable (id) on delete cascade,
  saved_date timestamptz,
  user_id text,
  user_name text,
  actor_user_id text,
  actor_user_name text,
  note text,
  declaration_hash text,
  calculated jsonb
);
comment on table declaration_save is 'saved declarations of calculated variables (R-H12); rows are never changed';
comment on column declaration_save.saved_date is 'null: saved before the history was kept';
comment on column declaration_save.user_id is 'author; null: saved before the history was kept';
comment on column declaration_save.user_name is 'name of the author at that time';
comment on column declaration_save.actor_user_id is 'ADMIN who impersonated the author; null without impersonation';
comment on column declaration_save.actor_user_name is 'name of that ADMIN at that time';
comment on column declaration_save.note is 'text that the author gave with the declaration';
comment on column declaration_save.declaration_hash is
  'as calculation_run.declaration_hash; null when the variable stopped being calculated, or before the history was kept';
comment on column declaration_save.calculated is 'variable.calculated as saved; null: the variable stopped being calculated';
-- GET …/calculated/history, newest first; the last save of a variable.
create index declaration_save_variable on declaration_save (variable_id, id desc);

insert into declaration_save (account_id, variable_id, calculated)
  select account_id, id, calculated from variable where calculated is not null order by id;
