-- Entries that accounts add to the catalogues. Ids of built-in entries are below 1000000000 and never move.

create sequence own_entry_id as int start with 1000000000 minvalue 1000000000;
comment on sequence own_entry_id is 'ids of the units, unit families and other entries that belong to one account';

alter table unit_family add column account_id int references account (id);
comment on column unit_family.account_id is 'the account that added the family; null: built in';
alter table unit add column account_id int references account (id);
comment on column unit.account_id is 'the account that added the unit; null: built in';

-- A name is used once in an account, in any case.
alter table unit_family drop constraint unit_family_name_key;
create unique index unit_family_name on unit_family (coalesce(account_id, 0), lower(name));
alter table unit drop constraint unit_name_key;
create unique index unit_name on unit (coalesce(account_id, 0), lower(name));

create table catalogue_entry (
  id int primary key default nextval('own_entry_id'),
  account_id int not null references account (id),
  catalogue text not null check (catalogue in
    ('SiteType', 'SourceType', 'EnergyType', 'EnergyUsage', 'VariableType', 'Feature')),
  name text not null check (name <> ''),
  aggregate smallint
);
comment on table catalogue_entry is 'types and features of one account, besides those built in';
comment on column catalogue_entry.aggregate is 'usual Aggregate number of a variable type (R-C8); null for others';
-- The entries of a catalogue; a name is used once, in any case.
create unique index catalogue_entry_name on catalogue_entry (account_id, catalogue, lower(name));
