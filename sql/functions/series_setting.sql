-- Settings that a write of points needs, per variable. The version limit is that of the variable, else that of its
-- account (§8).
create or replace view series_setting as
  select variable.id as variable_id,
         variable.is_versioned,
         coalesce(variable.version_limit, account.version_limit) as version_limit,
         variable.account_id
  from variable join account on account.id = variable.account_id;
