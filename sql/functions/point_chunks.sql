-- Creates point_chunks(), which returns one row for each chunk of the tables point and point_version. TimescaleDB's own
-- view of chunks takes five times as long, and lacks `columns_name` and `is_partial`. TimescaleDB 2.26, 2.28 and 2.29
-- changed the catalogue, so the function is created again for each version. point_chunks() is not a view, because a
-- view would make `alter extension` fail.
--
-- - `name`: table of the chunk, quoted and with its schema
-- - `columns_name`: table of the compressed data, quoted and with its schema; null when the chunk is not compressed
-- - `is_partial`: true when a compressed chunk is marked as also having uncompressed rows
-- - `is_compressible`: true when the hypertable has an enabled columnstore
-- - `from_micros` (inclusive), `to_micros` (exclusive): microseconds since 1970
do $do$
declare
  has_relations boolean := exists (
    select from pg_attribute
    where attrelid = '_timescaledb_catalog.chunk'::regclass and attname = 'relid' and not attisdropped);
  body text;
begin
  if has_relations then
    body := $$
      select chunk.id, hypertable.table_name, chunk.relid::text, columns.compress_relid::text,
             chunk.status & 1 = 1, chunk.status & 8 = 8, hypertable.status & 4 = 4, slice.range_start, slice.range_end
      from _timescaledb_catalog.hypertable
      join _timescaledb_catalog.chunk on chunk.hypertable_id = hypertable.id
      join _timescaledb_catalog.dimension_slice slice on slice.chunk_id = chunk.id
      left join _timescaledb_catalog.compression_settings columns on columns.relid = chunk.relid
      where hypertable.table_name in ('point', 'point_version') $$;
  else
    body := $$
      select chunk.id, hypertable.table_name, format('%I.%I', chunk.schema_name, chunk.table_name),
             case when columns.id is not null then format('%I.%I', columns.schema_name, columns.table_name) end,
             chunk.status & 1 = 1, chunk.status & 8 = 8, hypertable.compression_state = 1,
             slice.range_start, slice.range_end
      from _timescaledb_catalog.hypertable
      join _timescaledb_catalog.chunk on chunk.hypertable_id = hypertable.id
      join _timescaledb_catalog.chunk_constraint on chunk_constraint.chunk_id = chunk.id
      join _timescaledb_catalog.dimension_slice slice on slice.id = chunk_constraint.dimension_slice_id
      left join _timescaledb_catalog.chunk columns on columns.id = chunk.compressed_chunk_id
      where hypertable.table_name in ('point', 'point_version') $$;
  end if;
  execute format(
    'create or replace function point_chunks()
     returns table (chunk_id int, table_name name, name text, columns_name text, is_compressed boolean, is_partial boolean,
                    is_compressible boolean, from_micros int8, to_micros int8)
     language sql stable as %L', body);
end
$do$;
