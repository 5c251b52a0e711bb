-- Takes an account's next batches that may be written now, and locks them until the end of the transaction (R-D6).
-- Ignores batches that are set aside. Leaves out a batch that another transaction has locked. A batch that is left out,
-- for any reason, blocks every later batch that shares a variable with it. So the batches of each variable are written
-- in order, even when several transactions write batches of one account.
-- - `max_rows`: maximum total number of readings in the batches; a batch with more readings is taken alone
-- - `small_rows`: a batch with at most this many readings is small. Small and large batches are never taken together,
--   because the small ones would wait for the large ones.
-- - `is_small_only`: leaves out large batches
-- - `is_more_waiting`: true when more batches of the account may be waiting
create or replace function take_push_batches(
  for_account_id int, max_rows int, small_rows int, is_small_only boolean, tuple_bytes int,
  out ids bigint[], out operation_ids bigint[], out readings int, out is_more_waiting boolean
) language plpgsql as $$
declare
  batch record;
  blocked int4multirange := '{}';
  is_small boolean := case when is_small_only then true end;
  visited int := 0;
begin
  ids := '{}';
  operation_ids := '{}';
  readings := 0;
  is_more_waiting := false;
  -- Ingesters from releases before migration 0042 lock no batches. Each holds this advisory lock exclusively while it
  -- writes.
  perform pg_advisory_xact_lock_shared(26990, for_account_id);
  for batch in
    select id, push_batch.operation_ids, variables, length(rows) / tuple_bytes as count from push_batch
    where account_id = for_account_id and set_aside_date is null order by place, id limit 10000
  loop
    visited := visited + 1;
    if (batch.count <= small_rows) = coalesce(is_small, batch.count <= small_rows)
      and (isempty(blocked) or not batch.variables && blocked) then
      if cardinality(ids) = 1000 or cardinality(ids) > 0 and readings + batch.count > max_rows then
        is_more_waiting := true;
        return;
      end if;
      perform from push_batch where id = batch.id and set_aside_date is null for update skip locked;
      if found then
        is_small := batch.count <= small_rows;
        ids := ids || batch.id;
        operation_ids := operation_ids || batch.operation_ids;
        readings := readings + batch.count;
        continue;
      end if;
    end if;
    is_more_waiting := true;
    -- A batch stored by a release older than migration 0042 names no variables, so it blocks every later batch.
    if batch.variables is null then
      return;
    end if;
    blocked := blocked + batch.variables;
  end loop;
  is_more_waiting := is_more_waiting or visited = 10000;
end
$$;
