-- Registers this transaction as a writer of points of these accounts (R-F1). Returns the time for the VersionTimestamps
-- of the write.
-- A reader of the state at T waits for each registered writer whose VersionTimestamp can be T or earlier
-- (src/points/read/await-writers.ts). So this function registers before it reads the returned time from the clock.
-- Lock the rows of `series` before this call. Otherwise a reader could wait for a writer that still waits for these
-- rows.
create or replace function begin_point_write(account_ids int[]) returns timestamptz language plpgsql as $$
declare
  start timestamptz := clock_timestamp();
begin
  -- Prevents the compression of chunks until this transaction ends. If a chunk were compressed meanwhile, TimescaleDB
  -- would insert the rows of this write where no read finds them.
  lock table point_gate in access share mode;
  perform pg_advisory_xact_lock_shared(account_id::int8 << 32 | floor(extract(epoch from start))::int8)
  from unnest(account_ids) account_id;
  -- The clock may have stepped back since `start`.
  return greatest(start, clock_timestamp());
end
$$;
