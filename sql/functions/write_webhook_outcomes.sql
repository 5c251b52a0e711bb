-- Writes the outcomes of delivery attempts in one round trip: completes the history, adds the next attempts, and
-- updates the summary of each webhook. Ignores an attempt that another process has claimed meanwhile, because the other
-- process writes the outcome. The arrays have equal length, one element per attempt. is_hopeless: the webhook is
-- enabled and all its attempts have failed for at least `disable_after_days` days.
create or replace function write_webhook_outcomes(
  ids bigint[], claims timestamptz[], webhook_ids uuid[], states text[], ages_ms bigint[], durations_ms int[],
  requests jsonb[], responses jsonb[], errors text[], retries_ms bigint[], pauses_ms bigint[], disable_after_days int
) returns table (webhook_id uuid, is_hopeless boolean) language plpgsql as $$
#variable_conflict use_column
begin
  -- Locks the webhooks in id order, so that processes that write several webhooks do not deadlock. The lock is a
  -- statement of its own: a statement that both locks and writes would wait until a concurrent change of a webhook is
  -- committed, but would then not see that change.
  perform from webhook where id = any(webhook_ids) order by id for no key update;
  return query
  with given as materialized (
    select * from unnest(ids, claims, webhook_ids, states, ages_ms, durations_ms, requests, responses, errors, retries_ms,
                         pauses_ms)
      with ordinality given (id, claimed_until, webhook_id, state, age_ms, duration_ms, request, response, error, retry_ms,
                             pause_ms, place)
  ), ended as (
    update webhook_attempt attempt
    set state = given.state, claimed_until = null, duration_ms = given.duration_ms, request = given.request,
        response = given.response, error = given.error,
        date = clock_timestamp() - (given.age_ms + given.duration_ms) * interval '1 millisecond',
        next_attempt_date = case when hook.is_enabled then clock_timestamp() + given.retry_ms * interval '1 millisecond' end
    from given join webhook hook on hook.id = given.webhook_id
    where attempt.id = given.id and attempt.state = 'Pending' and attempt.claimed_until = given.claimed_until
    returning attempt.event_id, attempt.webhook_id, attempt.attempt, attempt.state, attempt.date,
              attempt.next_attempt_date, given.pause_ms, given.place
  ), retried as (
    insert into webhook_attempt (event_id, webhook_id, attempt, due_date, date)
    select event_id, webhook_id, attempt + 1, next_attempt_date, clock_timestamp()
    from ended where next_attempt_date is not null order by place
  ), summary as (
    select ended.webhook_id, max(date) as last_date, (array_agg(state order by place desc))[1] as last_state,
           count(*) filter (where state = 'Succeeded') as succeeded, count(*) filter (where state = 'Failed') as failed,
           min(date) filter (where state = 'Failed') as first_failure, max(pause_ms) as pause_ms
    from ended group by ended.webhook_id
  )
  update webhook
  set success_count = success_count + succeeded, failure_count = failure_count + failed,
      last_attempt_date = greatest(last_attempt_date, last_date), last_attempt_state = last_state,
      failing_since = case
        when last_state = 'Succeeded' or not is_enabled then null
        when succeeded > 0 then first_failure
        else coalesce(failing_since, first_failure) end,
      paused_until = case when pause_ms > 0 and is_enabled
        then greatest(paused_until, clock_timestamp() + pause_ms * interval '1 millisecond') else paused_until end
  from summary where webhook.id = summary.webhook_id
  returning webhook.id, is_enabled and failing_since <= now() - disable_after_days * interval '1 day';
end
$$;
