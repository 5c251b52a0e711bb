-- Nothing ever wrote it: an import has problems, and members that it ignored.
alter table structure_import drop column warnings;
