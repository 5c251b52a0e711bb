-- Administrators disable clients, and replace a secret while the old one stays valid for a time.
alter table oidc_client
  add column disabled_date timestamptz,
  add column secret_date timestamptz,
  add column previous_secret_hash text,
  add column previous_secret_until timestamptz,
  add constraint oidc_client_previous_secret check ((previous_secret_hash is null) = (previous_secret_until is null));
comment on column oidc_client.disabled_date is 'when the client was disabled; null: enabled';
comment on column oidc_client.secret_date is 'when the secret was replaced last; null: never';
comment on column oidc_client.previous_secret_hash is 'PHC string of the replaced secret; null: none is valid';
comment on column oidc_client.previous_secret_until is 'until then the replaced secret is valid';
