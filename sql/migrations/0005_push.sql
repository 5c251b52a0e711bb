-- Accepted pushes. The batch is durable before the client is answered (R-D1); the ingester writes its points and
-- deletes it in one transaction, so a batch is ingested exactly once whatever happens to its job.

create table push_operation (
  id bigint generated always as identity primary key,
  account_id int not null references account (id),
  user_id text not null,
  label text not null check (length(label) between 1 and 200),
  request_id text not null,
  state text not null default 'Queued' check (state in ('Queued', 'Processing', 'Completed', 'Failed')),
  accepted_elements int not null,
  accepted_readings int not null,
  rejected jsonb not null default '[]',
  failure text,
  accepted_date timestamptz not null default clock_timestamp(),
  completed_date timestamptz
);
comment on column push_operation.label is 'operationId as the client sees it (R-D7)';
comment on column push_operation.rejected is 'array of {index, code, message} as answered';
comment on column push_operation.failure is 'why its batch was set aside; null otherwise';
-- GET /api/operations/{label}: the newest of a label.
create index push_operation_label on push_operation (account_id, label, id);

create sequence push_batch_place;

create table push_batch (
  id bigint generated always as identity primary key,
  operation_id bigint not null unique references push_operation (id),
  account_id int not null,
  place bigint not null default nextval('push_batch_place'),
  attempts int not null default 0,
  set_aside_date timestamptz,
  rows bytea not null
);
comment on column push_batch.place is
  'order in which batches take effect: taken last, one push of a user at a time, so that it is the order of the answers';
comment on column push_batch.attempts is 'how often it could not be written, alone in its transaction';
comment on column push_batch.set_aside_date is 'since when it waits for an operator, so that it does not hold up the others';
comment on column push_batch.rows is 'readings as COPY BINARY tuples of `point`, VersionTimestamp not yet given';
-- Readings hardly compress and are read once: keep them out of line, uncompressed.
alter table push_batch alter column rows set storage external;
-- The ingester drains an account's batches in the order they were accepted (R-D6).
create index push_batch_account on push_batch (account_id, place) where set_aside_date is null;
