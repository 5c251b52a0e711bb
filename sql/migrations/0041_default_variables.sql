-- At most one variable of a source is the default, which a push that names only the source means. The flag was stored without
-- an effect, so rows from before may repeat it: they keep it, and such a push stays ambiguous. A trigger, not a unique index,
-- refuses a second one from now on.

create function assert_single_default() returns trigger language plpgsql as $$
begin
  -- 0x6466; concurrent writers of one source wait here, and then see each other.
  perform pg_advisory_xact_lock(25702, new.source_id);
  if exists (select from variable where source_id = new.source_id and id <> new.id and is_default) then
    raise exception 'source % already has a default variable', new.source_id
      using errcode = 'unique_violation', constraint = 'variable_source_default';
  end if;
  return null;
end $$;

create trigger variable_single_default_insert after insert on variable
  for each row when (new.is_default) execute function assert_single_default();
create trigger variable_single_default_update after update of is_default, source_id on variable
  for each row when (new.is_default and (not old.is_default or new.source_id <> old.source_id))
  execute function assert_single_default();

-- Push resolution by source alone (R-D2), and the check above.
create index variable_source_default on variable (source_id) where is_default;
comment on column variable.is_default is 'whether a push that names only the source means this variable';
comment on column variable.divider is 'readings that arrive are divided by it; not 0, 1 by default';
