-- Writes of before there were notes left none: whoever reads a variable from its beginning, and is interrupted in the middle
-- of them, has to look everywhere (R-J1). One note for each variable; later it is joined with others. Processes of a version
-- before 0026 must have ended by then: what they write again afterwards is not noted.
insert into point_rewrite (variable_id, version_timestamp, from_date, to_date)
select variable_id, last_version_timestamp, '-infinity', max_date
from series where last_version_timestamp > '-infinity' and max_date > '-infinity'
on conflict (variable_id, version_timestamp) do update
  set from_date = excluded.from_date, to_date = greatest(point_rewrite.to_date, excluded.to_date);
