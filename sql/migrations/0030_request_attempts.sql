-- New dates of a variable no longer inherit the attempts of dates whose run failed by a fault of ours (R-H5): a variable has at
-- most one waiting request for each number of attempts. Earlier versions cannot request runs from then on: their events stay
-- in the outbox for a process of this version.
alter table calculation_request drop constraint calculation_request_pkey, add primary key (variable_id, attempt);
comment on table calculation_request is
  'work waiting, at most one row for each variable and number of attempts: later triggers widen the row without attempts (R-H5)';
comment on column calculation_request.attempt is 'runs over these dates that ended by a fault of ours';
comment on column calculation_request.not_before_date is 'no request of the variable may run before';
