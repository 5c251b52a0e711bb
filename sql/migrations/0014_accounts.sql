-- Users as managers see and change them: search, features, saved views, invitations, mail, the audit trail; and what the
-- issuer needs for its pages (§4.1–4.3, §5, R-B1–B15, R-C1–C3).
create extension if not exists unaccent;
create extension if not exists pg_trgm;

create function fold_text(folded text) returns text language sql immutable strict parallel safe
  return lower(public.unaccent('public.unaccent'::regdictionary, normalize(folded, nfc)));
comment on function fold_text is
  'The text without accents and case, for comparison: Zoé and ZOE are the same. Declared immutable, as its dictionary is
never changed here; an index may be built on it';

alter table account
  add sms_sender_name text,
  add email_sender_name text,
  add email_reply_to text;
comment on column account.sms_sender_name is 'Sender shown on text messages; null: the service''s (R-C1)';
comment on column account.email_sender_name is 'Name beside the sender''s address of mails; null: the service''s (R-C1)';
comment on column account.email_reply_to is 'Address answers to mails go to; null: none (R-C1)';

alter table app_user
  add lock_reason text,
  add must_change_password boolean not null default false,
  add password_changed_date timestamptz,
  add search_text text not null generated always as (fold_text(
    coalesce(pseudo, '') || chr(10) || coalesce(first_name, '') || ' ' || coalesce(last_name, '') || chr(10) ||
    coalesce(email, ''))) stored;
comment on column app_user.lock_reason is 'Why a manager locked the user, for managers to read (R-B11)';
comment on column app_user.must_change_password is
  'The password is a temporary one, or still to be sent: it opens the page that changes it, nothing else (R-B10)';
comment on column app_user.password_changed_date is 'Instant the user last chose a password; null: never';
comment on column app_user.search_text is 'What SearchText looks at (§4.3), folded';
-- SearchText: a part of a name, anywhere in it.
create index app_user_search_text_idx on app_user using gin (search_text gin_trgm_ops);
-- BusinessKeys of the name BusinessId (§4.3), and users of an issuer that names them so (R-B5).
create index app_user_business_id_idx on app_user (business_id) where business_id is not null;
-- Users of an issuer that vouches for their address (R-B5); a forgotten password.
create index app_user_email_idx on app_user (lower(email)) where email is not null;

alter table site_access add source_ids int[];
comment on column site_access.source_ids is 'Sources of the site the user sees; null: all (R-C3)';

create table user_identity (
  issuer text not null,
  subject text not null,
  user_id text not null references app_user (id) on delete cascade,
  primary key (issuer, subject)
);
comment on table user_identity is 'Who a user is at an external issuer: the claim "sub" of its tokens (R-B5)';
comment on column user_identity.issuer is 'Claim "iss"';
comment on column user_identity.subject is 'Claim "sub"';
comment on column user_identity.user_id is 'The user';
-- The identity of a user at the issuer that administers users; the cascade.
create index user_identity_user_id_idx on user_identity (user_id);

create table account_feature (
  account_id int not null references account (id) on delete cascade,
  kind text not null check (kind in ('Feature', 'SecondaryAccess')),
  feature_id int not null,
  level text not null check (level in ('None', 'Read', 'Write', 'Admin')),
  primary key (account_id, kind, feature_id)
);
comment on table account_feature is 'Features limited for an account by the operator; what is not here is not limited';
comment on column account_feature.account_id is 'The account';
comment on column account_feature.kind is 'Which of the two lists of §4.1';
comment on column account_feature.feature_id is 'Number in the catalogue of src/accounts/features.ts';
comment on column account_feature.level is 'Most its users may have';

create table user_feature (
  account_id int not null,
  user_id text not null,
  kind text not null check (kind in ('Feature', 'SecondaryAccess')),
  feature_id int not null,
  level text not null check (level in ('None', 'Read', 'Write', 'Admin')),
  primary key (account_id, user_id, kind, feature_id),
  foreign key (account_id, user_id) references account_member (account_id, user_id) on delete cascade
);
comment on table user_feature is 'Features given to a member in one account; what is not here is None (R-C3)';
comment on column user_feature.account_id is 'The account';
comment on column user_feature.user_id is 'The member';
comment on column user_feature.kind is 'Which of the two lists of §4.2';
comment on column user_feature.feature_id is 'Number in the catalogue of src/accounts/features.ts';
comment on column user_feature.level is 'Level given';

create table user_view (
  id text primary key default gen_random_uuid()::text,
  account_id int not null references account (id) on delete cascade,
  owner_user_id text references app_user (id) on delete set null,
  name text not null check (name <> ''),
  filter jsonb not null check (jsonb_typeof(filter) = 'object'),
  created_date timestamptz not null default now()
);
comment on table user_view is 'Saved filters of listings of users: ViewId (§4.3)';
comment on column user_view.id is 'ViewId, a UUID as text';
comment on column user_view.account_id is 'Account whose members may use it';
comment on column user_view.owner_user_id is 'Who made it, and may change it besides managers; null: no longer there';
comment on column user_view.name is 'Name shown';
comment on column user_view.filter is '{searchText?, claims?, roles?, businessKeys?} as in a UserSearchRequest';
comment on column user_view.created_date is 'Instant of creation';
-- The views of an account.
create index user_view_account_id_idx on user_view (account_id);
-- "on delete set null" when a user is deleted.
create index user_view_owner_user_id_idx on user_view (owner_user_id);

create table invitation (
  id text primary key default gen_random_uuid()::text,
  account_id int not null references account (id) on delete cascade,
  email text not null check (email <> ''),
  first_name text,
  last_name text,
  language text not null,
  role text not null check (role in ('ADMIN', 'MANAGER', 'USER')),
  claims jsonb not null default '[]',
  sites jsonb not null default '[]',
  token_hash bytea unique,
  created_by_user_id text references app_user (id) on delete set null,
  created_date timestamptz not null default now(),
  sent_date timestamptz,
  expires_date timestamptz,
  accepted_date timestamptz,
  accepted_user_id text references app_user (id) on delete set null
);
comment on table invitation is 'Somebody asked by mail to join an account (§3, R-B10)';
comment on column invitation.id is 'UUID as text';
comment on column invitation.account_id is 'Account to join';
comment on column invitation.email is 'Address invited; becomes the user name';
comment on column invitation.first_name is 'Given name of the user to be';
comment on column invitation.last_name is 'Family name of the user to be';
comment on column invitation.language is 'Language of the mail and of the user to be, ISO 639-1';
comment on column invitation.role is 'Role of the user to be; somebody who is a user already keeps their own';
comment on column invitation.claims is 'Array of {claimType, claimValue} given on acceptance';
comment on column invitation.sites is 'Array of {siteId, level, sourceIds?} granted on acceptance';
comment on column invitation.token_hash is 'SHA-256 of the token in the mail; null until it is sent and once it is used';
comment on column invitation.created_by_user_id is 'Who invited; null: no longer there';
comment on column invitation.created_date is 'Instant of creation';
comment on column invitation.sent_date is 'Instant the last mail with a token was made; null: not yet';
comment on column invitation.expires_date is 'End of the token';
comment on column invitation.accepted_date is 'Instant of acceptance; null: open';
comment on column invitation.accepted_user_id is 'The user it made, or found';
-- The invitations of an account, newest first.
create index invitation_account_id_idx on invitation (account_id, created_date desc);
-- "on delete set null" when a user is deleted.
create index invitation_created_by_user_id_idx on invitation (created_by_user_id);
create index invitation_accepted_user_id_idx on invitation (accepted_user_id);

create table password_reset (
  user_id text primary key references app_user (id) on delete cascade,
  token_hash bytea not null unique,
  expires_date timestamptz not null
);
comment on table password_reset is 'The one link that lets a user choose a new password; deleted when used (R-B11)';
comment on column password_reset.user_id is 'The user; a newer link replaces an older one';
comment on column password_reset.token_hash is 'SHA-256 of the token in the link';
comment on column password_reset.expires_date is 'End of the link';

create table mail (
  id bigint generated always as identity primary key,
  kind text not null,
  to_address text not null check (to_address <> ''),
  language text not null,
  data jsonb not null default '{}',
  account_id int references account (id) on delete cascade,
  user_id text references app_user (id) on delete cascade,
  invitation_id text references invitation (id) on delete cascade,
  message_id text not null unique default gen_random_uuid()::text,
  state text not null default 'Waiting' check (state in ('Waiting', 'Sent', 'Failed', 'Obsolete')),
  attempts int not null default 0,
  created_date timestamptz not null default clock_timestamp(),
  not_before_date timestamptz not null default clock_timestamp(),
  sent_date timestamptz,
  failure text
);
comment on table mail is
  'Mails to send, written in the transaction of what they tell. Secrets are made when a mail is sent and never stored here';
comment on column mail.kind is 'Which text: a member of MailTexts in src/platform/mail/mail-text.ts';
comment on column mail.to_address is 'Receiver';
comment on column mail.language is 'Language of the text, ISO 639-1; English where there is none';
comment on column mail.data is 'What the text mentions: names, never secrets';
comment on column mail.account_id is 'Account whose sender name and reply address are used; null: the service''s';
comment on column mail.user_id is 'User it is about; deleted with them';
comment on column mail.invitation_id is 'Invitation it carries; deleted with it';
comment on column mail.message_id is 'Left part of the Message-ID: the same on every attempt';
comment on column mail.state is 'Waiting; Sent; Failed: refused for good; Obsolete: what it was for is over';
comment on column mail.attempts is 'How often sending began';
comment on column mail.created_date is 'Instant it was asked for';
comment on column mail.not_before_date is 'Earliest instant of the next attempt: the delay asked for, a pause after a failure, or the time an attempt under way may take';
comment on column mail.sent_date is 'Instant the mail server took it';
comment on column mail.failure is 'What the last attempt that failed said';
-- What is due.
create index mail_due_idx on mail (not_before_date) where state = 'Waiting';
-- The cascades, and the sweep of old mails.
create index mail_account_id_idx on mail (account_id);
create index mail_user_id_idx on mail (user_id);
create index mail_invitation_id_idx on mail (invitation_id);
create index mail_created_date_idx on mail (created_date);

create table audit_entry (
  id bigint generated always as identity primary key,
  account_id int,
  date timestamptz not null default clock_timestamp(),
  user_id text not null,
  user_name text not null,
  actor_user_id text,
  actor_user_name text,
  action text not null,
  target_id text,
  target_name text,
  details jsonb not null default '{}',
  request_id text
);
comment on table audit_entry is 'Administrative acts: who, as whom, what, when. No foreign keys: it outlives its subjects';
comment on column audit_entry.account_id is 'Account whose managers may read it; null: the operator alone';
comment on column audit_entry.date is 'Instant of the act';
comment on column audit_entry.user_id is 'User as whom it was done';
comment on column audit_entry.user_name is 'Their name then';
comment on column audit_entry.actor_user_id is 'Who really did it, where that is an impersonator (R-B14)';
comment on column audit_entry.actor_user_name is 'Their name then';
comment on column audit_entry.action is 'What: a word of src/accounts/audit.ts';
comment on column audit_entry.target_id is 'To whom or what: the id of a user, an invitation, an account, …';
comment on column audit_entry.target_name is 'Its name then';
comment on column audit_entry.details is 'What was changed; no secrets';
comment on column audit_entry.request_id is 'Request it was part of (R-A10)';
-- GET /account/audit, newest first.
create index audit_entry_account_id_idx on audit_entry (account_id, id desc);

alter table oidc_client
  alter secret_hash drop not null,
  add name text,
  add redirect_uris text[] not null default '{}',
  add post_logout_redirect_uris text[] not null default '{}';
comment on column oidc_client.secret_hash is 'PHC string of the client secret; null: a public client, which has none and uses PKCE';
comment on column oidc_client.name is 'Name shown on the pages of the issuer; null: the client id';
comment on column oidc_client.redirect_uris is 'Addresses a sign-in may return to';
comment on column oidc_client.post_logout_redirect_uris is 'Addresses a sign-out may return to';

-- Ending the sessions of a user.
create index oidc_payload_account_id_idx on oidc_payload ((payload ->> 'accountId'));
-- BusinessKeys of the name Username (§4.3) go through app_user_user_name_key; claims are looked up by their type.
create index user_claim_claim_type_idx on user_claim (account_id, claim_type, claim_value);
