-- Brings `version_summary` of a variable up to date (R-F8). Recounts the versions of each period of 28 days that has
-- changed. After a removal (`series.purge_count` has risen), recounts every period. Returns early when nothing was
-- written or removed since the last call. `mark` must be read before the counting, so that the next call counts
-- concurrent writes. An advisory lock per variable prevents deadlocks between calls.
--
-- Every call plans its statements anew. In TimescaleDB before 2.22, a kept plan misses rows that an UPDATE or DELETE
-- has decompressed. For the same reason, no named statement reads points.
create or replace function refresh_version_summary(wanted_id int) returns void language plpgsql
  set plan_cache_mode = force_custom_plan as $$
declare
  -- First key of the advisory locks; no other lock uses it.
  lock_class constant int := 30323;
  span constant interval := '28 days';
  mark record;
  stretch record;
begin
  select last_version_timestamp, purge_count into mark from series where variable_id = wanted_id;
  if mark is null or exists (
    select from version_summary_mark where variable_id = wanted_id
      and last_version_timestamp = mark.last_version_timestamp and purge_count = mark.purge_count) then
    return;
  end if;
  perform pg_advisory_xact_lock(lock_class, wanted_id);
  select last_version_timestamp, purge_count into mark from series where variable_id = wanted_id;
  if mark is null or exists (
    select from version_summary_mark where variable_id = wanted_id
      and last_version_timestamp = mark.last_version_timestamp and purge_count = mark.purge_count) then
    return;
  end if;

  for stretch in
    with current_period as (
      select date_bin(span, date, 'epoch') as period, count(*) as point_count,
             max(version_timestamp) as last_version_timestamp
      from point where variable_id = wanted_id group by 1
    ), changed as (
      select current_period.period,
             current_period.period - row_number() over (order by current_period.period) * span as neighbours
      from current_period left join version_summary summary
        on summary.variable_id = wanted_id and summary.period = current_period.period
           and summary.purge_count = mark.purge_count
           and summary.point_count = current_period.point_count
           and summary.last_version_timestamp = current_period.last_version_timestamp
      where summary.variable_id is null
    )
    select min(period) as first_date, max(period) + span as end_date from changed group by neighbours
  loop
    insert into version_summary
    select wanted_id, period, sum(point_count), max(last_version_timestamp),
           mark.purge_count,
           array_agg(version_tag_id), array_agg(first_version_timestamp), array_agg(last_version_timestamp),
           array_agg(version_count)
    from (
      select date_bin(span, date, 'epoch') as period, version_tag_id, count(*) filter (where is_current) as point_count,
             min(version_timestamp) as first_version_timestamp, max(version_timestamp) as last_version_timestamp,
             count(*) as version_count
      from (
        select date, version_timestamp, version_tag_id, true as is_current from point
        where variable_id = wanted_id and date >= stretch.first_date and date < stretch.end_date
        union all
        select date, version_timestamp, version_tag_id, false from point_version
        where variable_id = wanted_id and date >= stretch.first_date and date < stretch.end_date
      ) version
      group by 1, 2
    ) tag
    group by period
    on conflict (variable_id, period) do update
    set point_count = excluded.point_count, last_version_timestamp = excluded.last_version_timestamp,
        purge_count = excluded.purge_count, version_tag_ids = excluded.version_tag_ids,
        first_version_timestamps = excluded.first_version_timestamps,
        last_version_timestamps = excluded.last_version_timestamps, version_counts = excluded.version_counts;
  end loop;

  delete from version_summary summary where variable_id = wanted_id and not exists (
    select from point where variable_id = wanted_id and date >= summary.period and date < summary.period + span);

  insert into version_summary_mark values (wanted_id, mark.last_version_timestamp, mark.purge_count)
  on conflict (variable_id) do update
  set last_version_timestamp = excluded.last_version_timestamp, purge_count = excluded.purge_count;
end
$$;
