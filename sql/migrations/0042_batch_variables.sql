-- Pushes to other variables pass a large push of the same account (R-D6): the ingester compares the variables of batches.

alter table push_batch add column variables int4multirange;
comment on column push_batch.variables is
  'ids of the variables of its rows, possibly more; null: unknown (stored before this column existed), so nothing passes it';
