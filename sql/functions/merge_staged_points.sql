-- Merges the rows of the session's `staged_point` (COPY order = `ordinal`) into `point` and `point_version`.
-- The caller holds the row locks of `series` for every variable concerned. `base` is later than every
-- VersionTimestamp of these variables; the k-th entry of one variable and date gets base + (k - 1) microseconds.
-- Returns the last one given, null when nothing was left to merge.
--   versioned, tag new            a new version; what was current becomes history          (§9.2)
--   versioned, tag already there  the former entry of the tag is gone, a new version       (§9.2, R-F2)
--   versioned, no tag             a new version; tagged and untagged are limited apart     (R-F3)
--   not versioned                 the date keeps this row alone, without a VersionTag      (R-F4, R-C6)
create or replace function merge_staged_points(base timestamptz) returns timestamptz language plpgsql as $$
declare
  first_date timestamptz;
  last_date timestamptz;
  last_version_timestamp timestamptz;
begin
  create temp table if not exists incoming_point (
    like point,
    is_versioned boolean not null,
    version_limit int not null,
    is_last boolean not null
  ) on commit delete rows;

  with entry as (
    -- One entry per tag, the last; every untagged row of a versioned variable is a version of its own.
    select distinct on (staged.variable_id, staged.date, entry_key)
      staged.*, setting.is_versioned, setting.version_limit,
      case when not setting.is_versioned then 0
           when staged.version_tag_id <> 0 then staged.version_tag_id
           else -staged.ordinal end as entry_key
    from staged_point staged join series_setting setting using (variable_id)
    order by staged.variable_id, staged.date, entry_key, staged.ordinal desc
  )
  insert into incoming_point
  select date, value,
         base + (row_number() over same_date - 1) * interval '1 microsecond',
         variable_id, case when is_versioned then version_tag_id else 0 end, tag_set_id,
         is_versioned, version_limit, ordinal = max(ordinal) over (partition by variable_id, date)
  from entry
  window same_date as (partition by variable_id, date order by ordinal);

  -- The bounds let the planner leave out chunks.
  select min(date), max(date), max(version_timestamp) into first_date, last_date, last_version_timestamp
  from incoming_point;
  if first_date is null then return null; end if;

  delete from point_version history using incoming_point incoming
  where history.variable_id = incoming.variable_id and history.date = incoming.date
    and history.date between first_date and last_date
    and (not incoming.is_versioned
         or (incoming.version_tag_id <> 0 and history.version_tag_id = incoming.version_tag_id));

  insert into point_version
  select current.* from point current join incoming_point incoming using (variable_id, date)
  where incoming.is_versioned and incoming.is_last
    and current.date between first_date and last_date
    and not exists (
      select from incoming_point same
      where current.version_tag_id <> 0 and same.variable_id = current.variable_id and same.date = current.date
        and same.version_tag_id = current.version_tag_id);

  insert into point_version
  select date, value, version_timestamp, variable_id, version_tag_id, tag_set_id
  from incoming_point where is_versioned and not is_last;

  insert into point
  select date, value, version_timestamp, variable_id, version_tag_id, tag_set_id
  from incoming_point where is_last
  on conflict (variable_id, date) do update
  set value = excluded.value, version_timestamp = excluded.version_timestamp,
      version_tag_id = excluded.version_tag_id, tag_set_id = excluded.tag_set_id;

  delete from point_version history using (
    select variable_id, date, version_timestamp,
           row_number() over (partition by variable_id, date, version_tag_id <> 0 order by version_timestamp desc) as age,
           version_limit
    from (
      select stored.variable_id, stored.date, stored.version_timestamp, stored.version_tag_id, incoming.version_limit
      from incoming_point incoming join point_version stored using (variable_id, date)
      where incoming.is_versioned and incoming.is_last and stored.date between first_date and last_date
      union all
      select variable_id, date, version_timestamp, version_tag_id, version_limit
      from incoming_point where is_versioned and is_last
    ) version
  ) ranked
  where ranked.age > ranked.version_limit
    and history.variable_id = ranked.variable_id and history.date = ranked.date
    and history.date between first_date and last_date
    and history.version_timestamp = ranked.version_timestamp;
  return last_version_timestamp;
end
$$;
