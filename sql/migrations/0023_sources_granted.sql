-- Site access may be to some sources of a site only (R-C3): a file is resolved within what its sender might push to.
alter table stored_file add source_ids int[] not null default '{}';
comment on column stored_file.source_ids is 'Sources its sender might push to besides those of the sites';
