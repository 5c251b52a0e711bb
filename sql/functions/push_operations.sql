-- An operation as the event DataPushCompleted reports it (R-D7). Instants are ISO 8601 in UTC (R-A8).
create or replace function push_operation_event(operation push_operation) returns jsonb language sql stable as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'operationId', operation.label,
    'userId', operation.user_id,
    'state', operation.state,
    'accepted', jsonb_build_object('elements', operation.accepted_elements, 'readings', operation.accepted_readings),
    'rejected', jsonb_array_length(operation.rejected),
    'failure', operation.failure,
    'acceptedDate', to_char(operation.accepted_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'completedDate', to_char(operation.completed_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')))
$$;

-- Puts into the outbox what became of the operations among `ids` that were marked as announced at `announced_at`.
create or replace function announce_push_operations(ids bigint[], announced_at timestamptz) returns void
language sql as $$
  insert into outbox_event (account_id, type, payload)
  select account_id, 'DataPushCompleted',
         jsonb_build_object('operations', jsonb_agg(push_operation_event(operation) order by id))
  from push_operation operation
  where id = any(ids) and announced_date = announced_at
  group by account_id
$$;

-- Ends operations: Completed, or Failed with a reason. Each is announced by one event in all its life: those whose
-- time-out was announced before are not announced again (R-D7). One event tells of all operations of an account.
create or replace function end_push_operations(ids bigint[], end_state text, reason text) returns void
language plpgsql as $$
declare
  ended_at timestamptz := clock_timestamp();
begin
  update push_operation
  set state = end_state, failure = reason, started_date = coalesce(started_date, now()), completed_date = ended_at,
      announced_date = coalesce(announced_date, ended_at)
  where id = any(ids);
  perform announce_push_operations(ids, ended_at);
end
$$;

-- Announces the operations whose time-out passed before they ended (R-D7). A batch that is being ended right now is left
-- to that. Returns how many batches were looked at.
create or replace function announce_late_push_operations(max_batches int) returns int language plpgsql as $$
declare
  announced_at timestamptz := clock_timestamp();
  ids bigint[];
  batches int;
begin
  with late as (
    select id, operation_ids from push_batch where deadline <= announced_at order by id limit max_batches
    for update skip locked
  ), rest as (
    update push_batch batch set deadline = (
      select min(operation.deadline) from push_operation operation
      where operation.id = any(batch.operation_ids) and operation.deadline > announced_at)
    from late where batch.id = late.id
  )
  select count(distinct late.id), array_agg(operation_id) into batches, ids
  from late left join lateral unnest(late.operation_ids) operation_id on true;
  if batches = 0 then return 0; end if;
  update push_operation set announced_date = announced_at
  where id = any(ids) and deadline <= announced_at and announced_date is null;
  perform announce_push_operations(ids, announced_at);
  return batches;
end
$$;
