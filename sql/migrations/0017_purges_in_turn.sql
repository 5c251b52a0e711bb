-- A purge that fails is tried again later and less and less often, after those that wait meanwhile; and the points of a
-- deleted variable are removed some chunks at a time, so that no transaction locks all there are.
alter table version_purge
  add column attempt_count int not null default 0,
  add column next_attempt_date timestamptz not null default '-infinity';
comment on column version_purge.attempt_count is 'how often it has failed';
comment on column version_purge.next_attempt_date is 'not tried before; who waits longest is first';
alter table point_purge
  add column attempt_count int not null default 0,
  add column next_attempt_date timestamptz not null default '-infinity',
  add column purged_until timestamptz not null default '-infinity';
comment on column point_purge.attempt_count is 'how often it has failed';
comment on column point_purge.next_attempt_date is 'not tried before; who waits longest is first';
comment on column point_purge.purged_until is 'no point before this date is left';
