-- Accounts and who may do what in them. Sites are known here by number only: structure comes later and adds the key.

create table account (
  id int generated always as identity primary key,
  name text not null check (name <> ''),
  language text not null default 'en',
  time_zone_id text not null default 'UTC',
  currency text,
  version_limit int not null default 7 check (version_limit between 1 and 1000),
  created_date timestamptz not null default now()
);
comment on table account is 'A customer: owns structure, points and users'' access (R-C1)';
comment on column account.id is 'Account number, the integer claim "account" of a token (R-B4)';
comment on column account.name is 'Display name; not unique';
comment on column account.language is 'Language of texts sent to the account, ISO 639-1';
comment on column account.time_zone_id is 'IANA time zone of the account (R-C9)';
comment on column account.currency is 'ISO 4217 code; null: none chosen';
comment on column account.version_limit is 'Versions kept per variable and date, 1..1000, where the variable sets none (§8, R-C1)';
comment on column account.created_date is 'Instant of creation';

create table app_user (
  id text primary key default gen_random_uuid()::text,
  user_name text not null check (user_name <> ''),
  email text,
  first_name text,
  last_name text,
  pseudo text,
  language text not null default 'en',
  phone_number text,
  business_id text,
  password_hash text,
  role text not null default 'USER' check (role in ('ADMIN', 'MANAGER', 'USER')),
  active_account_id int references account (id) on delete set null,
  is_locked boolean not null default false,
  locked_until timestamptz,
  failed_password_count int not null default 0 check (failed_password_count >= 0),
  sign_in_locked_until timestamptz,
  created_date timestamptz not null default now(),
  last_login_date timestamptz
);
comment on table app_user is 'A person or program that signs in (R-C2)';
comment on column app_user.id is 'UUID as text, the claim "sub" of a token; never chosen by the user (§5)';
comment on column app_user.user_name is 'Name used to sign in; unique whatever its case';
comment on column app_user.email is 'Mail address; null: cannot be mailed';
comment on column app_user.first_name is 'Given name';
comment on column app_user.last_name is 'Family name';
comment on column app_user.pseudo is 'Short name shown to others';
comment on column app_user.language is 'Language of texts sent to the user, ISO 639-1';
comment on column app_user.phone_number is 'Phone number as entered';
comment on column app_user.business_id is 'Identifier from the customer''s master data (§5 BusinessId)';
comment on column app_user.password_hash is 'PHC string of the password (R-B11); null: cannot sign in by password';
comment on column app_user.role is 'ADMIN (operator, all accounts), MANAGER (own accounts) or USER (R-B8)';
comment on column app_user.active_account_id is 'Account of a token that names none (R-B4); null: none chosen';
comment on column app_user.is_locked is 'Locked by a manager: no token is issued, and live ones stop working (R-B5, R-B11)';
comment on column app_user.locked_until is 'End of that lock; null while locked: until unlocked';
comment on column app_user.failed_password_count is 'Wrong passwords since the last right one or the last lock (R-B11)';
comment on column app_user.sign_in_locked_until is
  'No sign-in by password before this instant, after too many wrong ones (R-B11). Live tokens keep working, so that '
  'guessing at a name does not stop the programs that use it';
comment on column app_user.created_date is 'Instant of creation';
comment on column app_user.last_login_date is 'Instant of the last successful sign-in; null: never';

-- Sign-in, by name in any case; also what makes names unique.
create unique index app_user_user_name_key on app_user (lower(user_name));
-- "on delete set null" when an account is deleted.
create index app_user_active_account_id_idx on app_user (active_account_id);

create table account_member (
  account_id int not null references account (id) on delete cascade,
  user_id text not null references app_user (id) on delete cascade,
  primary key (account_id, user_id)
);
comment on table account_member is 'Which accounts a user may name in a token (R-B4)';
comment on column account_member.account_id is 'The account';
comment on column account_member.user_id is 'The user';
-- Accounts of a user: choosing the account of a token, GET /account/user/accounts.
create index account_member_user_id_idx on account_member (user_id);

create table user_claim (
  account_id int not null,
  user_id text not null,
  claim_type text not null check (claim_type <> ''),
  claim_value text not null,
  primary key (account_id, user_id, claim_type),
  foreign key (account_id, user_id) references account_member (account_id, user_id) on delete cascade
);
comment on table user_claim is 'What a member was granted in one account; gone when the membership is (R-B8, R-C3)';
comment on column user_claim.account_id is 'The account in which the claim holds';
comment on column user_claim.user_id is 'The user';
comment on column user_claim.claim_type is 'Key of the claim (§5); a permission is its own type: datapusher.standard';
comment on column user_claim.claim_value is 'Value as given; "false" denies a permission, anything else grants it';

create table site_access (
  user_id text not null references app_user (id) on delete cascade,
  site_id int not null,
  level text not null check (level in ('Read', 'Write', 'Admin')),
  primary key (user_id, site_id)
);
comment on table site_access is 'Sites a USER sees; managers and admins see all of the account (R-B9, R-C3)';
comment on column site_access.user_id is 'The user';
comment on column site_access.site_id is 'The site';
comment on column site_access.level is 'Read, Write or Admin';
-- Users of a site, and the cascade when a site is deleted.
create index site_access_site_id_idx on site_access (site_id);
