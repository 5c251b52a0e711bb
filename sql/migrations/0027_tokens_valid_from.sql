-- A password that was replaced because others may have known it takes the access tokens of before with it (R-B5).
alter table app_user add tokens_valid_from timestamptz;
comment on column app_user.tokens_valid_from is 'Tokens issued in an earlier second are refused; null: none';
