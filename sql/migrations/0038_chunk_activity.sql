-- When the chunks of `point` and `point_version` were last written, so that quiet ones can be kept in columns. The counters are
-- those of PostgreSQL's statistics: writes record nothing here.
create table point_chunk_activity (
  chunk_id int primary key,
  write_count int8 not null,
  changed_date timestamptz not null default clock_timestamp(),
  rows_date timestamptz
);
comment on table point_chunk_activity is 'what was last seen of the chunks of points; maintained by src/points/columns';
comment on column point_chunk_activity.chunk_id is 'id of the chunk in the catalog of TimescaleDB';
comment on column point_chunk_activity.write_count is 'rows inserted, updated and deleted, by the statistics of PostgreSQL';
comment on column point_chunk_activity.changed_date is 'when write_count was last found changed';
comment on column point_chunk_activity.rows_date is 'since when a chunk in columns has had rows beside them; null: it has none';

-- Compression moves the rows of a chunk into columns. A snapshot from before, used by a statement that is planned afterwards,
-- sees neither: the plan looks into the columns, which are younger than the snapshot. A write that found the chunk in rows and
-- waited for the end of the compression puts its rows where no read looks for them. (TimescaleDB 2.19.3; both observed.)
create table point_gate ();
comment on table point_gate is
  'holds nothing: reads in a snapshot and writes of points lock it in share mode first, compression exclusively before it commits';
