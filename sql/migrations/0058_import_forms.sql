-- Imports also have rows with definitions of forms.

alter table structure_import_row drop constraint structure_import_row_kind_check;
alter table structure_import_row add constraint structure_import_row_kind_check
  check (kind in ('catalogues', 'forms', 'sites', 'sources', 'variables'));
comment on column structure_import.counts is '{catalogues, forms, sites, sources, variables: {created, changed, left}}';
