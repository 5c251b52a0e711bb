-- The console signs people in by authorization code with PKCE; the issuer adds the addresses of its installation.
insert into oidc_client (client_id, secret_hash, name, allowed_scopes, grant_types)
values ('tidemark-console', null, 'Tidemark console', '{datahub-api,push-data}', '{authorization_code,refresh_token}')
on conflict (client_id) do nothing;
