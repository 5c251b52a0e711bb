-- What triggered a run, and which runs one change triggered (R-H8).

alter table calculation_request add column causes int[] not null default '{}';
comment on column calculation_request.causes is 'inputs whose change requested it; empty for schedules and forced updates';
alter table calculation_run add column causes int[] not null default '{}';
comment on column calculation_run.causes is 'that of its calculation_request';
comment on column calculation_run.outcome is
  'ok, script_error, limit, killed, invalid_output, invalid_input, fault, breaks_sandbox, abandoned, stopped, cancelled, loop';
-- GET /runs/{id}/wave. Requests have no such index: few wait at a time, and every change of an input writes one.
create index calculation_run_of_wave on calculation_run (wave);
