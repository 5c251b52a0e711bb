-- Plain pushes of a user that are stored together share one row of `push_operation`: a row each would be inserted, indexed
-- and updated for every reading of a meter that pushes one at a time.

alter table push_operation
  add column member_elements int[],
  add column member_readings int[],
  add column member_request_ids text[];
comment on column push_operation.member_elements is
  'accepted elements of each push that shares this row; null: it is of one push. The label of the n-th, counted from 0, is '
  'that of the row with its last four digits replaced by n in hexadecimal';
comment on column push_operation.member_readings is 'accepted readings, and rows of the batch, of each such push';
comment on column push_operation.member_request_ids is
  'request id of each such push, null where it is the label; null as a whole: of all of them';
