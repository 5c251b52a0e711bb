-- Compresses chunks older than 90 days to save space, with the Community edition of TimescaleDB only; nothing depends on it.
-- Idempotent: called after every migration. Returns whether compression is enabled. NOT TESTED: the development machines have
-- the Apache edition, for which it does nothing; the names exist in every Community version since 2.0.
create or replace function enable_columnstore() returns boolean language plpgsql as $$
declare
  hypertable text;
begin
  if coalesce(current_setting('timescaledb.license', true), 'apache') <> 'timescale' then return false; end if;
  foreach hypertable in array array['point', 'point_version'] loop
    -- The settings of a hypertable with compressed chunks cannot be changed.
    if not (select compression_enabled from timescaledb_information.hypertables where hypertable_name = hypertable) then
      execute format(
        'alter table %I set (timescaledb.compress, timescaledb.compress_segmentby = ''variable_id'', '
        'timescaledb.compress_orderby = %L)',
        hypertable,
        case hypertable when 'point' then 'date' else 'date, version_timestamp desc' end);
    end if;
    execute format('select add_compression_policy(%L, interval ''90 days'', if_not_exists => true)', hypertable);
  end loop;
  -- A write of old dates decompresses any number of rows; the default limit is 100,000.
  execute format('alter database %I set timescaledb.max_tuples_decompressed_per_dml_transaction = 0', current_database());
  return true;
end
$$;
