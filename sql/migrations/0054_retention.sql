-- Retention: points before a boundary are rolled up (count, sum, minimum, maximum of an hour or a day) and deleted. Off until an
-- account or a variable has an active row in retention.
create table retention (
  id int primary key generated always as identity,
  account_id int not null references account (id) on delete cascade,
  variable_id int references variable (id) on delete cascade,
  keep_raw_years int not null check (keep_raw_years between 1 and 200),
  rollup text not null check (rollup in ('Hour', 'Day')),
  time_zone_id text not null,
  is_active boolean not null default false,
  modified_date timestamptz not null default clock_timestamp(),
  user_name text not null,
  -- The retention of an account (variable_id null) or of a variable.
  unique nulls not distinct (account_id, variable_id)
);
comment on table retention is 'how long raw points are kept; a row of a variable replaces that of its account';
comment on column retention.variable_id is 'null: every variable of the account without a row of its own';
comment on column retention.keep_raw_years is 'raw points are kept from the first day (UTC) of the month this many years ago';
comment on column retention.rollup is 'length of the civil buckets that replace raw points';
comment on column retention.time_zone_id is 'IANA zone of the buckets';
comment on column retention.is_active is 'false: nothing is rolled up';
comment on column retention.user_name is 'who saved it last';
-- Deleting a variable finds its retention.
create index retention_variable on retention (variable_id) where variable_id is not null;

create table point_rollup (
  first_date timestamptz not null,
  last_date timestamptz not null,
  version_timestamp timestamptz not null,
  sum_value float8 not null,
  squares float8 not null,
  min_value float8 not null,
  max_value float8 not null,
  first_value float8 not null,
  last_value float8 not null,
  variable_id int not null,
  point_count int not null,
  -- Aggregates of a variable; writes to dates that are rolled up.
  primary key (variable_id, first_date)
);
comment on table point_rollup is 'aggregates of points that retention has deleted';
comment on column point_rollup.first_date is 'date of the first of its points';
comment on column point_rollup.last_date is 'date of the last of its points, inclusive';
comment on column point_rollup.version_timestamp is 'greatest VersionTimestamp of its points: from then on it is what was known';
comment on column point_rollup.squares is 'sum of the squared differences from the mean';
comment on column point_rollup.first_value is 'value at first_date';
comment on column point_rollup.last_value is 'value at last_date';
comment on column point_rollup.point_count is 'number of points';

alter table series
  add column raw_from timestamptz,
  add column rollup_next timestamptz,
  add column refused_count int8 not null default 0,
  add column refused_date timestamptz;
comment on column series.raw_from is 'points before it have been rolled up; null: none has';
comment on column series.rollup_next is 'no point before it waits for its rollup; null: not begun';
comment on column series.refused_count is 'points that were not written because their dates were rolled up';
comment on column series.refused_date is 'when such a point was last refused';
-- Which variables of a read or write are rolled up; almost always none.
create index series_raw_from on series (variable_id) where raw_from is not null;
