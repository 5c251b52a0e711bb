-- The settings a write needs, per variable: the limit of the variable, else of its account (§8).
create or replace view series_setting as
  select variable.id as variable_id,
         variable.is_versioned,
         coalesce(variable.version_limit, account.version_limit) as version_limit,
         variable.account_id
  from variable join account on account.id = variable.account_id;
