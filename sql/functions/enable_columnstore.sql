-- Lets chunks of points be kept in columns, with the Community edition of TimescaleDB only; with the Apache edition it does
-- nothing. Called after every migration. Which chunks go into columns, and when, is decided by src/points/columns. Returns
-- whether chunks can be kept in columns.
--
-- History is ordered by VersionTimestamp before date: the points of one write lie together, so that their VersionTimestamp
-- and VersionTag cost nothing. Measured with 40 variables of 15-minute points, a year, two superseded versions each
-- (2026-11): 8.8 bytes a version; ordered by date first, 25.1. Current points take 8.9 bytes.
create or replace function enable_columnstore() returns boolean language plpgsql as $$
declare
  hypertable text;
  wanted text;
begin
  if coalesce(current_setting('timescaledb.license', true), 'apache') <> 'timescale' then return false; end if;
  foreach hypertable in array array['point', 'point_version'] loop
    wanted := case hypertable when 'point' then 'date' else 'version_timestamp, date' end;
    begin
      execute format(
        'alter table %I set (timescaledb.compress, timescaledb.compress_segmentby = ''variable_id'', '
        'timescaledb.compress_orderby = %L)',
        hypertable, wanted);
    exception when feature_not_supported or object_not_in_prerequisite_state then
      -- Some versions of TimescaleDB keep the settings of a hypertable that has chunks in columns.
      raise notice 'the columns of % keep their order: %', hypertable, sqlerrm;
    end;
    -- Former migrations added a policy by age; chunks go into columns when they are quiet.
    execute format('select remove_compression_policy(%L, if_exists => true)', hypertable);
  end loop;
  -- A write of old dates turns batches into rows; the default limit is 100,000 rows.
  execute format('alter database %I set timescaledb.max_tuples_decompressed_per_dml_transaction = 0', current_database());
  return true;
end
$$;
