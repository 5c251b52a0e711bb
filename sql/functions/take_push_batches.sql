-- Takes the next batches that may be written now for an account, and locks these batches until the end of the
-- transaction (R-D6). Visits the batches in the order of acceptance. Leaves out a batch that another transaction has
-- locked. A batch that is left out, for any reason, blocks its variables: later batches with one of these variables are
-- left out too. So several transactions can write batches of one account, and the batches of each variable are written
-- in order. Takes at most 1,000 batches, which together have at most `max_rows` readings. A batch with more readings
-- than `max_rows` is taken alone. A batch with at most `small_rows` readings is small. Small and large batches are
-- never taken together, because the small ones would wait for the large ones. If `is_small_only` is true, large batches
-- are left out. Examines at most 10,000 batches.
-- `is_more_waiting` is true when batches were left out, or when batches that were not examined may be waiting.
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
  -- Ingesters from releases before migration 0042 do not lock the rows of the batches that they write. Instead, such an
  -- ingester holds this advisory lock exclusively while it writes.
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
    -- A batch stored by a release older than migration 0042 does not name its variables, so it blocks every later batch.
    if batch.variables is null then
      return;
    end if;
    blocked := blocked + batch.variables;
  end loop;
  is_more_waiting := is_more_waiting or visited = 10000;
end
$$;
