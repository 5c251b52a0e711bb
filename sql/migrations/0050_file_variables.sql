-- The variables of a file's points, by which webhooks with a filter choose its event (R-I1).
alter table stored_file add column variables int4multirange not null default '{}';
comment on column stored_file.variables is 'variables of the points ingested so far; of files ingested by older versions: none';
