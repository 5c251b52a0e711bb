-- The declaration that a run ran, by its hash: what the run computed can be explained and repeated later (R-H12).
create table calculation_declaration (
  account_id int not null,
  hash text not null,
  declaration jsonb not null,
  created_date timestamptz not null default clock_timestamp(),
  primary key (account_id, hash)
);
comment on table calculation_declaration is 'every declaration that was run; rows are never changed';
comment on column calculation_declaration.hash is 'version of the normal form, a hyphen, SHA-256 in hexadecimal digits: v1-...';
comment on column calculation_declaration.declaration is 'with defaults filled in: scripts, inputs, forms, constants, validity';

alter table calculation_run add column declaration_hash text;
comment on column calculation_run.declaration_hash is 'the calculation_declaration that was run; null before a script was run';
comment on column calculation_preview.task is '{kind: validate | evaluate | sampleData | packages | replay, ...}';
