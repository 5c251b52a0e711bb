-- Calculated variables, continued: schedules, what a wave has come through, previews for authors, retention of runs.

create table calculation_schedule (
  variable_id int not null references variable (id) on delete cascade,
  formula int not null,
  cron text not null,
  time_zone_id text,
  valid_from timestamptz not null default '-infinity',
  valid_until timestamptz not null default 'infinity',
  after_date timestamptz not null default now(),
  next_date timestamptz,
  primary key (variable_id, formula)
);
comment on table calculation_schedule is 'cron expressions of formulas (R-H5), derived from variable.calculated when it is saved';
comment on column calculation_schedule.formula is 'place of the formula in the declaration';
comment on column calculation_schedule.time_zone_id is 'IANA zone the expression is read in; null is that of the source';
comment on column calculation_schedule.valid_from is 'begin of the validity of the formula';
comment on column calculation_schedule.valid_until is 'its end, exclusive';
comment on column calculation_schedule.after_date is 'when it came last, or was saved: it comes next after this';
comment on column calculation_schedule.next_date is 'when it comes next; null has to be worked out, infinity is never';
-- The calculators look for schedules that are due.
create index calculation_schedule_due on calculation_schedule (next_date);

alter table calculation_request add column ancestors int[] not null default '{}';
comment on column calculation_request.ancestors is 'calculated variables of the wave whose results led here (R-H11)';

alter table calculation_run
  add column ancestors int[] not null default '{}',
  add column formulas jsonb not null default '[]';
comment on column calculation_run.ancestors is 'calculated variables of the wave whose results led here (R-H11)';
comment on column calculation_run.formulas is 'array of {formula, from, to, triggerDate, forms}: what was run over which dates';
comment on column calculation_run.inputs is 'array of {formula, alias, variableId, from, to, points, lastVersionTimestamp, ...}';
comment on column calculation_run.counts is '{read, returned, dropped, outside, stored}';
comment on column calculation_run.outcome is
  'ok, script_error, limit, killed, invalid_output, invalid_input, fault, abandoned, stopped, loop';
-- Runs past their retention are deleted, oldest first (R-H8).
create index calculation_run_finished on calculation_run (finished_date) where finished_date is not null;
-- The wave a result belongs to: which of its variables led here (R-H11).
create index calculation_run_wave on calculation_run (variable_id, wave, id desc);

create table calculation_preview (
  id bigint generated always as identity primary key,
  account_id int not null,
  variable_id int not null references variable (id) on delete cascade,
  task jsonb not null,
  state text not null default 'Waiting' check (state in ('Waiting', 'Running', 'Done')),
  answer jsonb,
  file bytea,
  created_date timestamptz not null default clock_timestamp()
);
comment on table calculation_preview is 'what authors ask of a calculator (R-H9); a row lives until its answer was fetched';
comment on column calculation_preview.task is '{kind: validate | evaluate | sampleData, ...}';
comment on column calculation_preview.answer is 'JSON for the author, or {error}';
comment on column calculation_preview.file is 'a file for the author';
-- Those nobody came back for are removed.
create index calculation_preview_created on calculation_preview (created_date);
