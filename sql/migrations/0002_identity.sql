-- What the embedded token issuer keeps (R-B2). Nothing here is needed when an external issuer is used.

create table oidc_client (
  client_id text primary key check (client_id <> ''),
  secret_hash text not null,
  allowed_scopes text[] not null check (cardinality(allowed_scopes) > 0),
  grant_types text[] not null check (cardinality(grant_types) > 0),
  created_date timestamptz not null default now()
);
comment on table oidc_client is 'A program allowed to ask for tokens (§5); registered by the operator';
comment on column oidc_client.client_id is 'Public name of the client';
comment on column oidc_client.secret_hash is 'PHC string of the client secret';
comment on column oidc_client.allowed_scopes is 'Scopes the client may ask for; all of them when it asks for none';
comment on column oidc_client.grant_types is 'OAuth grant types the client may use';
comment on column oidc_client.created_date is 'Instant of registration';

create table oidc_payload (
  model text not null,
  id text not null,
  payload jsonb not null,
  grant_id text,
  uid text,
  user_code text,
  expires_date timestamptz,
  primary key (model, id)
);
comment on table oidc_payload is 'Storage of oidc-provider: grants, refresh tokens, sessions, …';
comment on column oidc_payload.model is 'Kind of the artefact, a class name of oidc-provider';
comment on column oidc_payload.id is 'Its identifier; where that is the secret itself, its SHA-256 in hexadecimal';
comment on column oidc_payload.payload is 'The artefact as oidc-provider wrote it, without the secret';
comment on column oidc_payload.grant_id is 'Grant it belongs to; null: none';
comment on column oidc_payload.uid is 'Second identifier of a session; null: none';
comment on column oidc_payload.user_code is 'Code a user types in for a device; null: none';
comment on column oidc_payload.expires_date is 'From this instant it counts as absent; null: never';
-- Revoking everything of a grant.
create index oidc_payload_grant_id_idx on oidc_payload (grant_id) where grant_id is not null;
-- Finding a session by its uid.
create index oidc_payload_uid_idx on oidc_payload (uid) where uid is not null;
-- Finding a device code by what the user typed.
create index oidc_payload_user_code_idx on oidc_payload (user_code) where user_code is not null;
-- The sweep of expired rows.
create index oidc_payload_expires_date_idx on oidc_payload (expires_date);

create table token_grant (
  grant_id text primary key,
  user_id text not null references app_user (id) on delete cascade,
  account_id int not null references account (id) on delete cascade,
  expires_date timestamptz not null
);
comment on table token_grant is 'The account each sign-in was for, so that a refresh keeps it (R-B4)';
comment on column token_grant.grant_id is 'Grant of oidc-provider';
comment on column token_grant.user_id is 'The user who signed in';
comment on column token_grant.account_id is 'Account of the tokens of this grant';
comment on column token_grant.expires_date is 'Instant at which the grant ends';
-- The cascades when a user or an account is deleted, and the sweep of expired rows.
create index token_grant_user_id_idx on token_grant (user_id);
create index token_grant_account_id_idx on token_grant (account_id);
create index token_grant_expires_date_idx on token_grant (expires_date);

create table signing_key (
  kid text primary key,
  algorithm text not null,
  private_jwk jsonb not null,
  state text not null default 'active' check (state in ('active', 'retired')),
  created_date timestamptz not null default now()
);
comment on table signing_key is 'Key pairs that sign tokens; the public halves are the issuer''s JWKS';
comment on column signing_key.kid is 'Key id in the header of a token, RFC 7638 thumbprint';
comment on column signing_key.algorithm is 'JWS algorithm, such as RS256';
comment on column signing_key.private_jwk is 'Private key as a JWK. Secret';
comment on column signing_key.state is 'active: signs and verifies; retired: verifies tokens that still live';
comment on column signing_key.created_date is 'Instant of generation';

create table cookie_key (
  id int generated always as identity primary key,
  value text not null,
  created_date timestamptz not null default now()
);
comment on table cookie_key is 'Keys that sign the cookies of the issuer''s pages; the newest signs, all verify';
comment on column cookie_key.id is 'Order of creation';
comment on column cookie_key.value is '256 random bits, base64url. Secret';
comment on column cookie_key.created_date is 'Instant of generation';
