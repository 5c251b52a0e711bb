-- Events are written in the transaction of what they report and deleted in the transaction of what they caused, so
-- none is lost, none is invented and none is handled twice (R-I8).

create table outbox_event (
  id bigint generated always as identity primary key,
  account_id int not null,
  type text not null,
  payload jsonb not null,
  created_date timestamptz not null default clock_timestamp()
);
comment on column outbox_event.type is 'WebhookEventType (R-I2)';
