-- A task of an author may concern no variable: GET /calculated/packages (R-H4).
alter table calculation_preview alter column variable_id drop not null;
comment on column calculation_preview.task is '{kind: validate | evaluate | sampleData | packages, ...}';
