-- Calculators take turns between accounts, and within an account triggered runs precede scheduled and forced ones (R-K3).
alter table calculation_request add column is_background boolean not null default false;
comment on column calculation_request.is_background is
  'scheduled or forced, or triggered by a result of such a run: runs triggered by inputs precede it';
alter table calculation_run add column is_background boolean not null default false;
comment on column calculation_run.is_background is 'that of its calculation_request';
update calculation_request set is_background = true where trigger <> 'Input';
-- The sweeper of the calculators samples the due requests of each account.
create index calculation_request_account on calculation_request (account_id);
