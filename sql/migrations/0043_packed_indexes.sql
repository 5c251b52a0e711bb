-- Chunks that stay in rows take less: superseded rows are vacuumed when they are a twentieth of a chunk (default: a fifth), so
-- that the next revision finds their space, and src/points/columns/pack-indexes rebuilds the indexes of quiet chunks.
alter table point set (autovacuum_vacuum_scale_factor = 0.05);
alter table point_version set (autovacuum_vacuum_scale_factor = 0.05);

alter table point_chunk_activity add column packed_count int8;
comment on column point_chunk_activity.packed_count is
  'write_count at the last rebuild of the indexes of a chunk in rows; null: never rebuilt';
