-- For each variable, the settings that a write of points needs. A variable without a version limit of its own has the
-- version limit of its account (§8).
create or replace view series_setting as
  select variable.id as variable_id,
         variable.is_versioned,
         coalesce(variable.version_limit, account.version_limit) as version_limit,
         variable.account_id
  from variable join account on account.id = variable.account_id;
