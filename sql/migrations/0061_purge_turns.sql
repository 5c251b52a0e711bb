-- Purges of accounts take turns, and the next purge is found through an index: without it, each of the purges after the
-- deletion of a site with 100,000 variables read and sorted all the purges that were left.
alter table point_purge add column account_id int not null default 0;
alter table version_purge add column account_id int not null default 0;
update point_purge set account_id = deletion.account_id from deletion where deletion.id = deletion_id;
update version_purge set account_id = variable.account_id from variable where variable.id = variable_id;
alter table point_purge alter column account_id drop default;
alter table version_purge alter column account_id drop default;
comment on column point_purge.account_id is
  'account of the variable; 0: unknown, because the purge was requested before this column existed';
comment on column version_purge.account_id is 'account of the variable; 0: the variable no longer exists';
create index point_purge_turn on point_purge (account_id, greatest(requested_date, next_attempt_date), variable_id);
create index version_purge_turn on version_purge (account_id, greatest(requested_date, next_attempt_date), variable_id);
