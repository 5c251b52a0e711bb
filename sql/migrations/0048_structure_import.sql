-- Imports of a structure: a document is stored, read into rows, compared with the account, and written in one transaction.

create sequence structure_import_place;

create table structure_import (
  id uuid primary key default gen_random_uuid(),
  account_id int not null references account (id) on delete cascade,
  user_id text not null,
  user_name text not null,
  actor_user_id text,
  actor_user_name text,
  request_id text,
  format text not null check (format in ('json', 'xlsx')),
  is_what_if boolean not null,
  state text not null default 'Uploading'
    check (state in ('Uploading', 'Queued', 'Processing', 'Completed', 'Refused', 'Failed')),
  place bigint,
  size_bytes bigint not null default 0,
  phase text not null default 'Waiting' check (phase in ('Waiting', 'Reading', 'Comparing', 'Writing', 'Ended')),
  position_bytes bigint not null default 0,
  row_count int not null default 0,
  counts jsonb not null default '{}',
  problem_count int not null default 0,
  warnings jsonb not null default '[]',
  columns jsonb not null default '{}',
  ignored_members text[] not null default '{}',
  attempts int not null default 0,
  failure_code text,
  failure text,
  uploaded_date timestamptz not null default clock_timestamp(),
  started_date timestamptz,
  completed_date timestamptz
);
comment on table structure_import is 'imports of sites, sources and variables, with what became of them; kept for the retention of files';
comment on column structure_import.actor_user_id is 'the ADMIN who impersonated the user (R-B14)';
comment on column structure_import.is_what_if is 'true: the import only reports what it would do';
comment on column structure_import.state is 'Uploading: its bytes still arrive; Refused: it has problems, so nothing was written';
comment on column structure_import.place is 'order in which the imports of an account are processed: that of the answers';
comment on column structure_import.phase is 'what the import is doing, for its progress';
comment on column structure_import.position_bytes is 'bytes of the document that were read';
comment on column structure_import.row_count is 'rows that were read';
comment on column structure_import.counts is '{sites, sources, variables: {created, changed, left}}';
comment on column structure_import.problem_count is 'all problems, also those beyond the ones that are kept';
comment on column structure_import.warnings is 'the first 100 of {path, message}';
comment on column structure_import.columns is 'sheet → member → column letter; for paths of problems';
comment on column structure_import.ignored_members is 'members and columns that are not part of a row';
comment on column structure_import.attempts is 'failures by the content or by a bug; killed processes do not count';
-- The importer takes an account's imports in order.
create index structure_import_waiting on structure_import (account_id, place) where state in ('Queued', 'Processing');
-- The purge, and imports of an account, newest first.
create index structure_import_uploaded on structure_import (uploaded_date);

create table structure_import_part (
  import_id uuid not null references structure_import (id) on delete cascade,
  part int not null,
  is_compressed boolean not null,
  bytes bytea not null,
  -- A part of a document; the cascade.
  primary key (import_id, part)
);
comment on table structure_import_part is 'the document, until the import has ended';
comment on column structure_import_part.part is 'from 0; all but the last have 1 MiB when inflated';
comment on column structure_import_part.is_compressed is 'bytes are zstd';
alter table structure_import_part alter column bytes set storage external;

create table structure_import_row (
  import_id uuid not null references structure_import (id) on delete cascade,
  kind text not null check (kind in ('sites', 'sources', 'variables')),
  ordinal int not null,
  place text not null,
  site_key text,
  site_occurrence int,
  source_key text,
  source_occurrence int,
  key text not null,
  occurrence int,
  members jsonb,
  calculated jsonb,
  site_id int,
  source_id int,
  target_id int,
  action text check (action in ('Created', 'Changed', 'Left')),
  changes jsonb,
  -- Rows of an import in order; the cascade.
  primary key (import_id, kind, ordinal)
);
comment on table structure_import_row is 'rows of a document, and what the import does or would do with each';
comment on column structure_import_row.ordinal is 'order in the document, from 0';
comment on column structure_import_row.place is 'where the row is: JSON path, or sheet and row number';
comment on column structure_import_row.key is '= and the identifier, or ~ and the name where the row has no identifier';
comment on column structure_import_row.occurrence is 'which of several resources with this key is meant, from 1';
comment on column structure_import_row.members is 'column → value as stored, of the members that the row has; null once the import has ended';
comment on column structure_import_row.calculated is 'declaration by business keys; JSON null: not calculated; SQL null: the row does not say';
comment on column structure_import_row.site_id is 'site of the row, found or about to be created';
comment on column structure_import_row.target_id is 'the resource, found or about to be created';
comment on column structure_import_row.changes is 'column → {from, to}; for calculated, declarations by business keys';

create table structure_import_problem (
  import_id uuid not null references structure_import (id) on delete cascade,
  id bigint generated always as identity,
  path text not null,
  message text not null,
  -- Problems of an import in order; the cascade.
  primary key (import_id, id)
);
comment on table structure_import_problem is 'why an import is refused: the first 1,000 problems';
comment on column structure_import_problem.path is 'JSON path, or sheet and cell';

-- One lock for each default variable would not fit into memory when an import writes many: the row of the source is locked instead.
create or replace function assert_single_default() returns trigger language plpgsql as $$
begin
  -- Concurrent writers of one source wait here, and then see each other.
  perform from source where id = new.source_id for no key update;
  if exists (select from variable where source_id = new.source_id and id <> new.id and is_default) then
    raise exception 'source % already has a default variable', new.source_id
      using errcode = 'unique_violation', constraint = 'variable_source_default';
  end if;
  return null;
end $$;
