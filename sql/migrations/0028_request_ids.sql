-- The id of the request that led to a run or sent a file, so that what is logged of it can be found by it (R-A10, R-K4).

alter table calculation_request add column request_id text;
comment on column calculation_request.request_id is 'id of the first HTTP request that asked for it; null: none did, or it is not known';
alter table calculation_run add column request_id text;
comment on column calculation_run.request_id is 'that of its calculation_request';
alter table stored_file add column request_id text;
comment on column stored_file.request_id is 'id of the HTTP request that sent it; null: it was sent before that was noted';
