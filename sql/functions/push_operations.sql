-- Returns an operation as JSON for the event DataPushCompleted (R-D7). Instants are ISO 8601 in UTC (R-A8). A shared
-- operation is one row for several pushes. Its JSON has `members`; when the event is delivered, expand_push_operations
-- replaces the shared operation with one operation per push.
create or replace function push_operation_event(operation push_operation) returns jsonb language sql stable as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'operationId', operation.label,
    'userId', operation.user_id,
    'state', operation.state,
    'accepted', jsonb_build_object('elements', operation.accepted_elements, 'readings', operation.accepted_readings),
    'members', case when operation.member_elements is not null then
      jsonb_build_object('elements', operation.member_elements, 'readings', operation.member_readings) end,
    'rejected', jsonb_array_length(operation.rejected),
    'failure', operation.failure,
    'acceptedDate', to_char(operation.accepted_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'completedDate', to_char(operation.completed_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')))
$$;

-- Derives the label of one push of a shared operation from the operation's label and the push's zero-based position in
-- the operation (migration 0018).
create or replace function push_member_label(label text, place int) returns text language sql immutable as $$
  select left(label, -4) || lpad(to_hex(place), 4, '0')
$$;

-- Splits each shared operation (one row for several pushes) of a DataPushCompleted event into one operation per push.
-- The field `concerns`, if present, is split as well: each new operation gets the variable ids of its own push.
create or replace function expand_push_operations(operations jsonb) returns setof jsonb language sql immutable as $$
  select case when member.place is null then operation else operation - 'members' || jsonb_build_object(
    'operationId', push_member_label(operation ->> 'operationId', member.place::int - 1),
    'accepted', jsonb_build_object('elements', member.elements, 'readings', member.readings)) end
    || case when operation ? 'concerns' then
      jsonb_build_object('concerns', operation -> 'concerns' -> (coalesce(member.place, 1)::int - 1)) else '{}' end
  from jsonb_array_elements(operations) with ordinality given (operation, number)
  left join lateral rows from (
    jsonb_array_elements(operation -> 'members' -> 'elements'), jsonb_array_elements(operation -> 'members' -> 'readings')
  ) with ordinality member (elements, readings, place) on true
  order by number, place
$$;

-- Drops an older function, which part_push_batch replaces.
drop function if exists part_push_operations(int);

-- Splits each shared operation of a batch into one operation per push, so that each push can end on its own. The ids of
-- the new operations ascend in the order of the pushes.
create or replace function part_push_batch(batch_id bigint) returns void language plpgsql as $$
declare
  whole push_batch;
begin
  select * into whole from push_batch where id = batch_id for update;
  if not exists (select from push_operation where id = any(whole.operation_ids) and member_elements is not null) then
    return;
  end if;
  with part as materialized (
    select case when ordered.place is null then ordered.id else nextval('push_operation_id_seq') end as part_id, ordered.*
    from (
      select operation.*, number, member.place, coalesce(member.readings, count) as row_count, member.elements,
             member.readings, push_member_label(label, member.place::int - 1) as part_label, member.request_id as part_request
      from unnest(whole.operation_ids, whole.reading_counts) with ordinality given (id, count, number)
      join push_operation operation using (id)
      left join lateral unnest(member_elements, member_readings, member_request_ids)
        with ordinality member (elements, readings, request_id, place) on true
      order by number, member.place
    ) ordered
  ), parted as (
    insert into push_operation (id, account_id, user_id, label, request_id, state, accepted_elements, accepted_readings,
                                accepted_date, deadline, started_date, announced_date)
    overriding system value
    select part_id, account_id, user_id, part_label, coalesce(part_request, part_label), state, elements, readings,
           accepted_date, deadline, started_date, announced_date
    from part where place is not null order by number, place
  ), shared as (
    delete from push_operation where id in (select id from part where place is not null)
  )
  update push_batch
  set operation_ids = array(select part_id from part order by number, place),
      reading_counts = array(select row_count from part order by number, place)
  where id = whole.id;
end
$$;

-- Returns the ids in a set of variables as a JSON array.
create or replace function multirange_ids(variables int4multirange) returns jsonb language sql immutable as $$
  select coalesce(jsonb_agg(id), '[]') from unnest(variables) range, generate_series(lower(range), upper(range) - 1) id
$$;

-- Returns true if one of the accounts has an enabled webhook for events of `type` that filters by site, source or
-- variable. Otherwise, these events omit the ids of the written variables (`concerns`) to save space.
create or replace function has_filtered_webhook(account_ids int[], type text) returns boolean language sql stable as $$
  select exists (
    select from webhook
    where webhook.account_id = any(account_ids) and webhook.event_type = has_filtered_webhook.type and is_enabled
      and (site_ids is not null or source_ids is not null or variable_ids is not null))
$$;

-- Returns null when has_filtered_webhook returns false. Otherwise, maps the id of each operation to a list with one
-- entry per push: the array of the push's variable ids. The ids are read from the rows of the batch: a row has 62
-- bytes, with the variable id at offset 42 (src/points/copy-codec.ts). For a push of more than 10,000 rows that is
-- alone in its batch, the ids are taken from push_batch.variables. This column keeps its value when a batch is split
-- (src/push/store/failed-batches.ts), so the array can then have too many ids.
create or replace function push_concerns(batch_ids bigint[]) returns jsonb language plpgsql stable as $$
begin
  if not has_filtered_webhook(array(select account_id from push_batch where id = any(batch_ids)), 'DataPushCompleted') then
    return null;
  end if;
  return (
    with part as (
      select batch.id as batch_id, operation.id, member_readings, count, batch.variables,
             sum(count) over (partition by batch.id order by number) - count as first,
             cardinality(operation_ids) = 1 and member_readings is null and count > 10000 as is_large
      from push_batch batch
      cross join lateral unnest(operation_ids, reading_counts) with ordinality given (operation_id, count, number)
      join push_operation operation on operation.id = given.operation_id
      where batch.id = any(batch_ids)
    ), push as (
      select batch_id, id, place, readings, is_large, variables,
             first + sum(readings) over (partition by batch_id, id order by place) - readings as first
      from part cross join lateral unnest(coalesce(member_readings, array[count])) with ordinality member (readings, place)
    )
    select jsonb_object_agg(id, pushes) from (
      select id, jsonb_agg(case when is_large then multirange_ids(variables) else coalesce(named.ids, '[]') end
                           order by place) as pushes
      from push cross join lateral (
        select substring(rows from (62 * first + 1)::int for case when is_large then 0 else 62 * readings end) as bytes
        from push_batch batch where batch.id = push.batch_id offset 0
      ) slice cross join lateral (
        select jsonb_agg(distinct (get_byte(bytes, at) << 24) + (get_byte(bytes, at + 1) << 16)
                                  + (get_byte(bytes, at + 2) << 8) + get_byte(bytes, at + 3)) as ids
        from generate_series(42, length(bytes) - 1, 62) at
      ) named
      group by id
    ) operations);
end
$$;

-- Drops older functions, which the functions below replace.
drop function if exists announce_push_operations(bigint[], timestamptz);
drop function if exists end_push_operations(bigint[], text, text);

-- Writes one outbox event per account for the operations among `ids` that were marked as announced at `announced_at`.
-- `concerns` is null or an object that is structured like the result of push_concerns.
create or replace function announce_push_operations(ids bigint[], announced_at timestamptz, concerns jsonb) returns void
language sql as $$
  insert into outbox_event (account_id, type, payload)
  select account_id, 'DataPushCompleted', jsonb_build_object('operations', jsonb_agg(push_operation_event(operation)
           || case when concerns ? id::text then jsonb_build_object('concerns', concerns -> id::text) else '{}' end order by id))
  from push_operation operation
  where id = any(ids) and announced_date = announced_at
  group by account_id
$$;

-- Ends operations as Completed, or as Failed with a reason. Announces the end of an operation even if its time-out was
-- already announced (R-D7). A Failed operation loses its re-send key, so a repeated push becomes a new operation.
-- - batch_ids: batches of the operations. The rows of these batches in push_batch must still exist.
-- - written: ids of the written variables, for a single operation without a batch.
create or replace function end_push_operations(
  ids bigint[], end_state text, reason text, batch_ids bigint[] default '{}', written int4multirange default null
) returns void language plpgsql as $$
declare
  ended_at timestamptz := clock_timestamp();
  concerns jsonb := push_concerns(batch_ids);
begin
  if written is not null and has_filtered_webhook(
       array(select account_id from push_operation where id = any(ids)), 'DataPushCompleted') then
    concerns := jsonb_build_object(ids[1], jsonb_build_array(multirange_ids(written)));
  end if;
  update push_operation
  set state = end_state, failure = reason, started_date = coalesce(started_date, greatest(accepted_date, now())), completed_date = ended_at,
      announced_date = ended_at, resend_key = case when end_state = 'Failed' then null else resend_key end
  where id = any(ids);
  perform announce_push_operations(ids, ended_at, concerns);
end
$$;

-- Announces the operations whose time-out has passed and that are not yet announced (R-D7). Skips batches that another
-- transaction has locked. Returns the number of batches examined.
create or replace function announce_late_push_operations(max_batches int) returns int language plpgsql as $$
declare
  announced_at timestamptz := clock_timestamp();
  ids bigint[];
  batch_ids bigint[];
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
  select coalesce(array_agg(distinct late.id), '{}'), array_agg(operation_id) into batch_ids, ids
  from late left join lateral unnest(late.operation_ids) operation_id on true;
  if batch_ids = '{}' then return 0; end if;
  update push_operation set announced_date = announced_at
  where id = any(ids) and deadline <= announced_at and announced_date is null;
  perform announce_push_operations(ids, announced_at, push_concerns(batch_ids));
  return cardinality(batch_ids);
end
$$;
