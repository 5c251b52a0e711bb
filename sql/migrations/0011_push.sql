-- What a client follows of an import (R-D7, R-D8), batches that carry several small pushes, the mappers of custom formats
-- (R-D9), and a version of every account's structure, so that a resolved identifier can be remembered (R-D2).

alter table push_operation
  add column resend_key bytea,
  add column warnings jsonb not null default '[]',
  add column deadline timestamptz,
  add column started_date timestamptz,
  add column announced_date timestamptz,
  add column mapper_id uuid,
  add column is_replay boolean not null default false;
comment on column push_operation.resend_key is
  'SHA-256 of account, user, label and body: who sends them again within a day gets this operation (R-D7); null when the '
  'client gave no label, or later';
comment on column push_operation.warnings is 'array of {path, code, message} as answered (R-D4)';
comment on column push_operation.deadline is 'instant at which DataPushCompleted is sent though it has not ended (R-D7)';
comment on column push_operation.started_date is 'instant at which its readings began to be written; null: not yet';
comment on column push_operation.announced_date is 'instant at which DataPushCompleted was put in the outbox; null: not yet';
comment on column push_operation.mapper_id is 'mapper of a custom format (R-D9); null: the standard one';
comment on column push_operation.is_replay is 'elements rejected before, sent again by the service (R-D8)';
-- A row is inserted, and updated once soon after: leaves room for that on its page, so that no index is touched again.
alter table push_operation set (fillfactor = 50);
-- Finds the operation of a body that is sent again; keeps two from being made at the same time.
create unique index push_operation_resend on push_operation (resend_key) where resend_key is not null;
-- The purge of old operations.
create index push_operation_accepted on push_operation using brin (accepted_date);

alter table push_batch
  add column operation_ids bigint[] not null default '{}',
  add column reading_counts int[] not null default '{}',
  add column deadline timestamptz;
update push_batch batch
set operation_ids = array[operation_id], reading_counts = array[length(rows) / 62], deadline = accepted_date + interval '60 s'
from push_operation operation where operation.id = operation_id;
alter table push_batch drop column operation_id;
comment on column push_batch.operation_ids is 'operations whose readings these are, in their order';
comment on column push_batch.reading_counts is 'how many of the rows belong to each of the operations';
comment on column push_batch.deadline is 'earliest deadline of its operations not yet announced; null: none';

create table push_rejection (
  operation_id bigint not null references push_operation (id) on delete cascade,
  place int not null,
  code text not null,
  message text not null,
  element text not null,
  -- GET /api/operations/{label}/rejected lists an operation's in their order; the cascade.
  primary key (operation_id, place)
);
comment on table push_rejection is 'Push elements that could not be mapped, kept to be replayed (R-D8)';
comment on column push_rejection.place is 'place of the element in the body';
comment on column push_rejection.element is 'the element as JSON, as it was sent';

create table mapper (
  id uuid primary key default gen_random_uuid(),
  account_id int not null references account (id) on delete cascade,
  name text not null check (name <> ''),
  expression text not null,
  has_header boolean not null default true,
  is_enabled boolean not null default true,
  created_date timestamptz not null default now(),
  modified_date timestamptz not null default now()
);
comment on table mapper is 'Custom formats: an expression that turns a body into push elements (R-D9)';
comment on column mapper.id is 'the GUID of POST /api/generic/{guid}';
comment on column mapper.expression is 'JSONata';
comment on column mapper.has_header is 'whether the first row of CSV names the columns';
comment on column mapper.is_enabled is 'false: its GUID is answered as if it did not exist';
-- GET /account/mappers lists an account's in order of name.
create index mapper_account on mapper (account_id, name);

-- No key to `account`: a deleted account's row is bumped by the deletion of its structure.
create table structure_version (
  account_id int primary key,
  version bigint not null default 1
);
comment on table structure_version is
  'Counts the transactions that changed sites, sources or variables of an account. What was resolved under a version holds '
  'as long as the version does';

-- At the end of the transaction, once: a row that all structure writers of an account share must not be locked longer.
create function bump_structure_version() returns trigger language plpgsql as $$
declare
  changed_account_id int := case when tg_op = 'DELETE' then old.account_id else new.account_id end;
  bumped text := coalesce(current_setting('tidemark.bumped_accounts', true), '');
begin
  if position(',' || changed_account_id || ',' in bumped) = 0 then
    insert into structure_version (account_id) values (changed_account_id)
    on conflict (account_id) do update set version = structure_version.version + 1;
    perform set_config('tidemark.bumped_accounts', bumped || ',' || changed_account_id || ',', true);
  end if;
  return null;
end
$$;
create constraint trigger site_structure_version after insert or update or delete on site
  deferrable initially deferred for each row execute function bump_structure_version();
create constraint trigger source_structure_version after insert or update or delete on source
  deferrable initially deferred for each row execute function bump_structure_version();
create constraint trigger variable_structure_version after insert or update or delete on variable
  deferrable initially deferred for each row execute function bump_structure_version();
