-- Which pushes or which file brought a version. One row a write, not a column of points: the VersionTimestamp and the variable of
-- a version identify the write.
create table write_origin (
  version_timestamp timestamptz not null,
  last_version_timestamp timestamptz not null,
  account_id int not null,
  file_id uuid,
  operation_ids bigint[] not null,
  reading_counts int[],
  variables bytea not null
);
comment on table write_origin is
  'writes of pushes and files, kept as long as operations and files; runs have their period in calculation_run';
comment on column write_origin.version_timestamp is 'VersionTimestamp of the first row of each date of the variables';
comment on column write_origin.last_version_timestamp is
  'VersionTimestamp of the last row of a date that has several rows in this write, inclusive';
comment on column write_origin.file_id is 'the file; null: pushes';
comment on column write_origin.operation_ids is 'operations in the order of their readings; empty for a file';
comment on column write_origin.reading_counts is 'readings of each operation; null: the write has one origin';
comment on column write_origin.variables is
  'runs of readings of a variable (src/points/origins/variable-runs-codec.ts)';
-- The write of a version.
create index write_origin_version on write_origin (account_id, version_timestamp);
-- The purge of old rows; they are inserted in about this order.
create index write_origin_age on write_origin using brin (version_timestamp);
