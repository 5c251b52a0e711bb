-- What GET /account/health looks for among any number of runs and pushes that succeeded.

-- The failed runs of an account, newest first.
create index calculation_run_failed on calculation_run (account_id, id desc) where state = 'Failed';
-- Pushes with rejections or a failure, newest first. Neither column changes when a push completes, so that update still
-- touches no index.
create index push_operation_troubled on push_operation (account_id, id desc)
  where rejected <> '[]' or failure is not null;
