-- Standard Files (R-E1–E5). The bytes stand in the database: the roles share no disk, and what the database holds is what
-- a backup holds. The rows of a chunk, the progress and the row errors are one transaction, so a file goes on where it
-- stopped.

create sequence stored_file_place;

create table stored_file (
  id uuid primary key default gen_random_uuid(),
  account_id int not null references account (id) on delete cascade,
  user_id text not null,
  sites int[],
  filename text not null,
  format text not null check (format in ('csv', 'xlsx')),
  state text not null default 'Uploading'
    check (state in ('Uploading', 'Queued', 'Processing', 'Completed', 'Failed')),
  place bigint,
  size_bytes bigint not null default 0,
  position_bytes bigint not null default 0,
  position_rows bigint not null default 0,
  position_row_number bigint not null default 0,
  ingested_rows bigint not null default 0,
  rejected_rows bigint not null default 0,
  warning_count bigint not null default 0,
  warnings jsonb not null default '[]',
  ignored_columns text[] not null default '{}',
  attempts int not null default 0,
  failure_code text,
  failure text,
  uploaded_date timestamptz not null default clock_timestamp(),
  started_date timestamptz,
  completed_date timestamptz
);
comment on table stored_file is 'Standard Files, with what became of them; kept with their bytes for their retention';
comment on column stored_file.sites is 'sites of the sender when it was sent; null: all of the account (R-B9)';
comment on column stored_file.state is 'Uploading: its bytes still arrive, nobody knows its id yet';
comment on column stored_file.place is 'order in which the files of an account are processed: that of the answers';
comment on column stored_file.position_bytes is 'CSV: where the next record begins; xlsx: the share that was read';
comment on column stored_file.position_rows is 'rows below the header that are ingested or reported';
comment on column stored_file.position_row_number is 'number of the last of them, as a spreadsheet counts';
comment on column stored_file.warnings is 'the first 100 of {row, code, message} (R-D4)';
comment on column stored_file.attempts is 'how often it was taken up since rows were last written';
comment on column stored_file.failure_code is 'why it is Failed, as a stable word';
comment on column stored_file.failure is 'the same for its sender';
comment on column stored_file.uploaded_date is 'when its last byte was stored';
-- The ingester takes an account's files in order.
create index stored_file_waiting on stored_file (account_id, place) where state in ('Queued', 'Processing');
-- The purge of files whose retention is over, and of uploads that were cut off.
create index stored_file_uploaded on stored_file (uploaded_date);

create table stored_file_part (
  file_id uuid not null references stored_file (id) on delete cascade,
  part int not null,
  is_compressed boolean not null,
  bytes bytea not null,
  -- A part of a file; the cascade.
  primary key (file_id, part)
);
comment on column stored_file_part.part is 'from 0; all but the last have 1 MiB when inflated';
comment on column stored_file_part.is_compressed is 'bytes are zstd, which makes CSV a tenth; workbooks are compressed already';
alter table stored_file_part alter column bytes set storage external;

create table stored_file_error (
  id bigint generated always as identity,
  file_id uuid not null references stored_file (id) on delete cascade,
  row_number bigint not null,
  code text not null,
  message text not null,
  -- Errors of a file in order; the cascade.
  primary key (file_id, id)
);
comment on table stored_file_error is 'Rows that were not ingested (R-E3)';
comment on column stored_file_error.row_number is 'as a spreadsheet counts: the header is row 1';
