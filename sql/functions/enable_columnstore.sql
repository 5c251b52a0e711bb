-- Keeps chunks older than 90 days in columns, where the Community edition of TimescaleDB is found, to take less
-- room. Nothing depends on it. Called after every migration, so it may be called any number of times.
-- Returns whether chunks are kept so. NOT TRIED: the machines this was made on have the Apache edition, for which it does
-- nothing; the names are those that every version since 2.0 of the Community edition takes.
create or replace function enable_columnstore() returns boolean language plpgsql as $$
declare
  hypertable text;
begin
  if coalesce(current_setting('timescaledb.license', true), 'apache') <> 'timescale' then return false; end if;
  foreach hypertable in array array['point', 'point_version'] loop
    -- Settings of a hypertable that has compressed chunks cannot be given again.
    if not (select compression_enabled from timescaledb_information.hypertables where hypertable_name = hypertable) then
      execute format(
        'alter table %I set (timescaledb.compress, timescaledb.compress_segmentby = ''variable_id'', '
        'timescaledb.compress_orderby = %L)',
        hypertable,
        case hypertable when 'point' then 'date' else 'date, version_timestamp desc' end);
    end if;
    execute format('select add_compression_policy(%L, interval ''90 days'', if_not_exists => true)', hypertable);
  end loop;
  -- A write of old dates unpacks as many rows as it meets; the default refuses more than 100,000.
  execute format('alter database %I set timescaledb.max_tuples_decompressed_per_dml_transaction = 0', current_database());
  return true;
end
$$;
