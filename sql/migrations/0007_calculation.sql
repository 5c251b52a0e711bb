-- Calculated variables: the input graph, the work waiting, the record of every run (R-H5, R-H8).

create table variable_input (
  variable_id int not null references variable (id) on delete cascade,
  input_variable_id int not null references variable (id) on delete cascade,
  is_trigger boolean not null,
  primary key (variable_id, input_variable_id)
);
comment on table variable_input is 'edges of the calculation graph, derived from variable.calculated when it is saved';
-- Which variables does a write to this input trigger; does anything still depend on it.
create index variable_input_input on variable_input (input_variable_id);

create table calculation_request (
  variable_id int primary key references variable (id) on delete cascade,
  account_id int not null,
  trigger text not null check (trigger in ('Input', 'Schedule', 'ForceUpdate')),
  from_date timestamptz not null,
  to_date timestamptz not null,
  trigger_date timestamptz not null,
  wave bigint not null,
  attempt int not null default 0,
  requested_date timestamptz not null default clock_timestamp(),
  not_before_date timestamptz not null default clock_timestamp()
);
comment on table calculation_request is 'work waiting, at most one row per variable: later triggers widen it (R-H5)';
comment on column calculation_request.from_date is 'earliest changed date of the inputs';
comment on column calculation_request.to_date is 'latest changed date of the inputs, inclusive';
comment on column calculation_request.wave is 'id of the outbox event that began the wave';
comment on column calculation_request.attempt is 'how many runs for this request ended by a fault of ours';
-- The sweeper looks for requests whose job was lost.
create index calculation_request_due on calculation_request (not_before_date);

create table calculation_run (
  id bigint generated always as identity primary key,
  variable_id int not null,
  account_id int not null,
  state text not null check (state in ('Running', 'Succeeded', 'Failed', 'Abandoned')),
  trigger text not null,
  from_date timestamptz not null,
  to_date timestamptz not null,
  trigger_date timestamptz not null,
  wave bigint not null,
  attempt int not null,
  default_version text not null,
  requested_date timestamptz not null,
  started_date timestamptz not null default clock_timestamp(),
  finished_date timestamptz,
  outcome text,
  message text,
  inputs jsonb not null default '[]',
  notes jsonb not null default '{}',
  counts jsonb not null default '{}',
  durations jsonb not null default '{}'
);
comment on column calculation_run.outcome is 'ok, script_error, limit, killed, invalid_output, fault, abandoned';
comment on column calculation_run.inputs is 'array of {alias, variableId, from, to, points, lastVersionTimestamp}';
comment on column calculation_run.notes is '{messages, warnings, errors, output, call, line}';
comment on column calculation_run.counts is '{read, returned, dropped, stored}';
comment on column calculation_run.durations is 'milliseconds: {wait, load, r, store}';
-- GET /variables/{id}/runs, newest first; a variable has at most one running run.
create index calculation_run_variable on calculation_run (variable_id, id desc);
create unique index calculation_run_running on calculation_run (variable_id) where state = 'Running';
