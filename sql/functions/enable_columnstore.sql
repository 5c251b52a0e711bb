-- Allows TimescaleDB to compress the chunks of points. The Apache edition of TimescaleDB cannot compress; there, the
-- function does nothing and returns false; otherwise it returns true. Called at the end of every migration run.
-- src/points/columns decides which chunks are compressed, and when.
--
-- point_version is ordered by VersionTimestamp before date: the versions of one write lie together, so that their
-- VersionTimestamp and VersionTag take almost no space. Measured with a year of 15-minute points of 40 variables, two
-- superseded versions of each point (2026-11): 8.8 bytes per version; when ordered by date first, 25.1 bytes.
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
      -- Some versions of TimescaleDB refuse to change these settings while the hypertable has compressed chunks.
      raise notice 'the columnstore settings of % stay unchanged: %', hypertable, sqlerrm;
    end;
    -- Removes a policy that compresses chunks by age, if there is one.
    execute format('select remove_compression_policy(%L, if_exists => true)', hypertable);
  end loop;
  -- A write of old dates decompresses batches; without this setting, it fails above 100,000 decompressed rows.
  execute format('alter database %I set timescaledb.max_tuples_decompressed_per_dml_transaction = 0', current_database());
  return true;
end
$$;
