-- Registers this transaction as a writer of points of these accounts and returns the time for its VersionTimestamps
-- (R-F1). To register, the function takes one advisory lock per account. The key of a lock consists of the account id
-- and the UNIX time, in whole seconds, at which the write begins. The locks are shared, so no writer waits for the lock
-- of another writer. The function takes the locks before it reads the returned time from the clock. A reader of the
-- state at T therefore finds the lock of every writer whose VersionTimestamp can be T or earlier, and waits for these
-- writers (src/points/read/await-writers.ts). Call this function after locking the rows of `series`, so that a reader
-- never waits for a writer that is still waiting for these rows.
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
