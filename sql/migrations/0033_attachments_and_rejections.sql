-- Files that are no Standard Files are kept as attachments, for a retention of their own, and never parsed (R-E1). What ended
-- without taking anything is told from what was taken whole: an operation that accepted no element is Rejected, a file of
-- which some or all rows were rejected is PartiallyIngested or Rejected.
alter table stored_file
  add column kind text not null default 'StandardFile' check (kind in ('StandardFile', 'Attachment')),
  alter column format drop not null,
  drop constraint stored_file_state_check,
  add constraint stored_file_state_check check (state in
    ('Uploading', 'Queued', 'Processing', 'Completed', 'PartiallyIngested', 'Rejected', 'Failed', 'Stored')) not valid,
  add constraint stored_file_attachment_check check ((kind = 'StandardFile') = (format is not null)) not valid;
comment on column stored_file.kind is 'Attachment: kept as uploaded, never parsed; its state is Stored';
comment on column stored_file.format is 'of a Standard File; null: an attachment';

alter table push_operation
  drop constraint push_operation_state_check,
  add constraint push_operation_state_check check (state in
    ('Queued', 'Processing', 'Completed', 'Rejected', 'Failed')) not valid;
comment on column push_operation.state is 'Rejected: no element was accepted';
