-- Sites have an identifier of a client's own system, so that an import finds them under a new name.

alter table site add column external_id text;
comment on column site.external_id is
  'identifier of a client''s own system; not unique, because a client may post back what it read. Imports refuse ambiguous ones';
