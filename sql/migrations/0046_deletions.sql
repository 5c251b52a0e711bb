-- Deletions with hardDelete=true (R-C7), as jobs that can be followed: large ones remove the structure in steps, and every one the
-- points of its variables. A job is work in the table, so a killed process loses none.
create table deletion (
  id uuid primary key default gen_random_uuid(),
  account_id int not null,
  kind text not null check (kind in ('Site', 'Source', 'Variable')),
  target_id int not null,
  target_name text not null,
  user_name text not null,
  requested_date timestamptz not null default clock_timestamp(),
  variable_count int not null,
  deleted_count int not null default 0,
  structure_deleted_date timestamptz,
  attempt_count int not null default 0,
  next_attempt_date timestamptz not null default '-infinity'
);
comment on table deletion is 'jobs of deletions with hardDelete=true (R-C7); kept 30 days';
comment on column deletion.kind is 'what is deleted, with everything below it';
comment on column deletion.target_id is 'id of the site, source or variable; its row may be gone';
comment on column deletion.target_name is 'its name when the deletion was requested';
comment on column deletion.user_name is 'who requested it';
comment on column deletion.variable_count is 'variables to delete, counted at the request';
comment on column deletion.deleted_count is 'variables deleted so far';
comment on column deletion.structure_deleted_date is 'null while rows of the structure are left';
comment on column deletion.attempt_count is 'how often a step has failed';
comment on column deletion.next_attempt_date is 'not tried before';
-- The next step to take; a second request for the same target finds the first.
create unique index deletion_open on deletion (kind, target_id) where structure_deleted_date is null;

alter table point_purge add column deletion_id uuid;
comment on column point_purge.deletion_id is 'the deletion it belongs to; null: a variable without hardDelete';
-- Progress of a deletion.
create index point_purge_deletion on point_purge (deletion_id) where deletion_id is not null;
