-- The instant from which past states of a variable are whole (R-F9). A version cut by the version limit, by a purge of
-- versions, or by an overwrite of an unversioned variable is missing from earlier states.
alter table series add column history_from timestamptz;
comment on column series.history_from is
  'no version known at this instant or later has been cut; null: no version has ever been cut (R-F9)';

-- Cuts before this migration left no record. The latest state is always whole, so the states from the last write on are; a
-- series that has only ever been appended has nothing to cut. Processes of a version before this one must have ended: cuts
-- that they make afterwards are not recorded.
update series set history_from = last_version_timestamp
where last_version_timestamp > '-infinity'
  and exists (select from point_rewrite where point_rewrite.variable_id = series.variable_id);
