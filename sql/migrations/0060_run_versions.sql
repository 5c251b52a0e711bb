-- Which run brought a version: the VersionTimestamps that a run wrote, instead of the period in which it ran.
alter table calculation_run
  add column first_version_timestamp timestamptz,
  add column last_version_timestamp timestamptz;
comment on column calculation_run.first_version_timestamp is
  'least VersionTimestamp of the points that the run stored; null: it stored none, or ended before this column existed';
comment on column calculation_run.last_version_timestamp is 'greatest VersionTimestamp of these points, inclusive';
