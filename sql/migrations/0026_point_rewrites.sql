-- Where a reader who has seen a variable up to some VersionTimestamp has to look for what was committed since (R-J1). What
-- was only appended needs no note: it is whatever lies behind the last date seen. So appending costs nothing, and writing
-- dates again or in between a row for each variable of a write. Measured (2026-11) against an index of VersionTimestamps on
-- the points, which would be one more entry for each of them.
create table point_rewrite (
  variable_id int not null,
  version_timestamp timestamptz not null,
  from_date timestamptz not null,
  to_date timestamptz not null,
  -- What was written to a variable after a VersionTimestamp.
  primary key (variable_id, version_timestamp)
);
comment on table point_rewrite is
  'writes that did more than append later dates; those of long ago are joined, so that the period is wider than what was written';
comment on column point_rewrite.version_timestamp is 'greatest VersionTimestamp the variable got from the write';
comment on column point_rewrite.from_date is 'first date written';
comment on column point_rewrite.to_date is 'last date written, inclusive';
