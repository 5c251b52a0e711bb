-- Which VersionTags a variable has, kept by period, so that listing them costs no walk through all versions (R-F8).
-- Measured on ten years of 15-minute points with 7 versions each: the walk takes 0.3 s where the rows of a variable lie
-- together and 2.4 s where they lie among those of a hundred others; looking for periods that changed, 0.1 to 0.4 s.

create table version_summary (
  variable_id int not null references variable (id) on delete cascade,
  period timestamptz not null,
  point_count int not null,
  last_version_timestamp timestamptz not null,
  purge_count int not null,
  version_tag_ids int[] not null,
  first_version_timestamps timestamptz[] not null,
  last_version_timestamps timestamptz[] not null,
  version_counts int[] not null,
  -- The summary of a variable.
  primary key (variable_id, period)
);
comment on table version_summary is 'versions of a variable in 28 days, as they were when last looked at';
comment on column version_summary.period is 'begin of the 28 days, counted from 1970';
comment on column version_summary.point_count is
  'dates in the period; with the next two it tells whether the summary still holds';
comment on column version_summary.last_version_timestamp is 'greatest VersionTimestamp in the period: every write raises it';
comment on column version_summary.purge_count is 'series.purge_count then: what a purge removes leaves the other two as they are';
comment on column version_summary.version_tag_ids is 'VersionTags in the period, 0 for none; the next three are parallel';
comment on column version_summary.version_counts is 'stored values under each';

create table version_summary_mark (
  variable_id int primary key references variable (id) on delete cascade,
  last_version_timestamp timestamptz not null,
  purge_count int not null
);
comment on table version_summary_mark is
  'what `series` said when the summary of a variable was last right as a whole: while it says the same, it still is';

alter table series add column purge_count int not null default 0;
comment on column series.purge_count is
  'how often points or versions of the variable were removed other than by a write (R-F7, R-G5): who removes, raises it';
