-- A mappingConfig names one variable within its source: pushes with the identifiers of a source and a mappingConfig find their
-- target (R-D2). Case counts; white space around it does not, and a blank one is none.

update variable set mapping_config = nullif(trimmed, '')
from (
  -- White space as ECMAScript defines it, which the service trims on writes.
  select id as trimmed_id,
         btrim(mapping_config, U&'\0009\000A\000B\000C\000D\0020\00A0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200A\2028\2029\202F\205F\3000\FEFF') as trimmed
  from variable where mapping_config is not null
) trimming
where trimmed_id = id and mapping_config is distinct from nullif(trimmed, '');
-- Runs the triggers of the change: an index cannot be created while they wait.
set constraints all immediate;

do $$
declare
  repeats text;
  repeat_count int;
begin
  with repeated as (
    select source_id, mapping_config, string_agg(id::text, ', ' order by id) as ids,
           row_number() over (order by source_id, mapping_config) as place, count(*) over () as total
    from variable where mapping_config is not null
    group by source_id, mapping_config having count(*) > 1
  )
  select string_agg(format('source %s has variables %s with %s', source_id, ids, to_json(mapping_config)), '; '
                    order by place) filter (where place <= 20),
         max(total)
  into repeats, repeat_count
  from repeated;
  if repeat_count > 0 then
    raise exception 'mappingConfig must be unique within a source, but % of them % repeated: %',
      repeat_count, case repeat_count when 1 then 'is' else 'are' end,
      repeats || case when repeat_count > 20 then '; …' else '' end
      || '. Pushes to them were rejected as target_ambiguous. Change or clear mappingConfig of all but one variable of each, with'
      || ' the version that ran before (PUT /sources/{sourceId}/variables/{id}) or by SQL, then start this version again.'
      || ' "npm run admin -- repeated-mappings" lists them all'
      using errcode = 'unique_violation';
  end if;
end $$;

create unique index variable_source_mapping_config on variable (source_id, mapping_config) where mapping_config is not null;
comment on index variable_source_mapping_config is
  'uniqueness of mappingConfig within a source; push resolution by source and mapping (R-D2)';
