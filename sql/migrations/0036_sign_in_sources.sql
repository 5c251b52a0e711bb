-- Wrong passwords are counted per network of the client, so that a guesser elsewhere does not stop a user's devices (R-B11).
create table sign_in_source (
  user_id text not null references app_user (id) on delete cascade,
  network text not null,
  wrong_count int not null default 0 check (wrong_count >= 0),
  wrong_marks int[] not null default '{}',
  locked_until timestamptz,
  last_success_date timestamptz,
  changed_date timestamptz not null,
  primary key (user_id, network)
);
comment on table sign_in_source is 'Sign-ins by password per user and network of the client; rows without news for 30 days are deleted';
comment on column sign_in_source.network is 'IPv4 address or IPv6 /64 of the client';
comment on column sign_in_source.wrong_count is 'Wrong passwords since the last right one or the end of the last lock';
comment on column sign_in_source.wrong_marks is 'Two bytes of a salted hash of the last 16 wrong passwords: a device that repeats one counts once';
comment on column sign_in_source.locked_until is 'No sign-in from this network before this instant; null: not locked';
comment on column sign_in_source.last_success_date is 'Last right password from this network; null: none';
comment on column sign_in_source.changed_date is 'Instant of the last sign-in or wrong password';

comment on column app_user.failed_password_count is
  'Counts wrong passwords from all networks, so that a sign-in notices those counted while it was checked (R-B11)';
comment on column app_user.sign_in_locked_until is
  'No sign-in before this instant from networks without a right password in 30 days, after guesses from many networks (R-B11)';
