-- Webhooks: what an account wants to be told, what is to be told, and every try of telling it (§4.4, §6, R-I1 to R-I8).

create table webhook (
  id uuid primary key default gen_random_uuid(),
  account_id int not null references account (id) on delete cascade,
  name text not null check (name <> ''),
  url text not null,
  event_type text not null,
  is_enabled boolean not null default true,
  http_method text not null default 'POST' check (http_method in ('POST', 'PUT')),
  headers jsonb not null default '{}',
  secret text not null,
  former_secret text,
  former_secret_until timestamptz,
  site_ids int[],
  source_ids int[],
  variable_ids int[],
  body_template text,
  created_date timestamptz not null default clock_timestamp(),
  modified_date timestamptz not null default clock_timestamp(),
  deleted_date timestamptz,
  disabled_reason text,
  disabled_date timestamptz,
  failing_since timestamptz,
  paused_until timestamptz,
  gap_event_id uuid,
  last_attempt_date timestamptz,
  last_attempt_state text,
  success_count bigint not null default 0,
  failure_count bigint not null default 0
) with (fillfactor = 70);
comment on table webhook is 'Where an account wants to be told of events of a type (R-I1)';
comment on column webhook.url is 'Receiver; never followed to where it redirects';
comment on column webhook.event_type is 'WebhookEventType (R-I2)';
comment on column webhook.is_enabled is 'false: by a manager, or by the service, see disabled_reason';
comment on column webhook.headers is 'Object of strings, sent with every delivery; may hold credentials of the receiver''s';
comment on column webhook.secret is 'whsec_ and base64: the key deliveries are signed with. Written, never read back';
comment on column webhook.former_secret is 'The key before; deliveries are signed with both until former_secret_until';
comment on column webhook.site_ids is 'Only what happens at these sites; null: at all. With the two lists below any match is enough';
comment on column webhook.source_ids is 'Only what happens at these sources';
comment on column webhook.variable_ids is 'Only what happens to these variables';
comment on column webhook.body_template is 'What is sent instead of {type, timestamp, accountId, data}; null: that';
comment on column webhook.deleted_date is
  'It is gone for everybody, and disabled; its history, which may be long, goes in the background, then the row';
comment on column webhook.disabled_reason is 'Why the service disabled it; null: it did not';
comment on column webhook.failing_since is 'First failure since the last success; null: the last attempt succeeded, or there was none';
comment on column webhook.paused_until is 'Its receiver asked not to be sent anything before (Retry-After); null: it did not';
comment on column webhook.gap_event_id is 'Entry of the history that tells of the messages which are not kept just now; null: all are';
comment on column webhook.success_count is 'Attempts that succeeded, since it was made';
comment on column webhook.failure_count is 'Attempts that failed, since it was made';
-- GET /account/webhooks in order of name.
create index webhook_account_id_idx on webhook (account_id, name);
-- Which webhooks want an event, asked for every event there is.
create index webhook_wanted_idx on webhook (account_id, event_type) where is_enabled;

create table webhook_event (
  id uuid primary key default gen_random_uuid(),
  webhook_id uuid not null references webhook (id) on delete cascade,
  account_id int not null,
  type text not null,
  date timestamptz not null,
  data jsonb not null,
  created_date timestamptz not null default clock_timestamp()
);
comment on table webhook_event is
  'What is to be told to one webhook: written in the transaction that takes the event from the outbox (R-I8)';
comment on column webhook_event.id is 'The header webhook-id of every try; eventId of the history (R-I3)';
comment on column webhook_event.date is 'Instant of the event; `timestamp` of the body';
comment on column webhook_event.data is '`data` of the body, narrowed to what the filter of the webhook lets through';
-- The cascade; the sweep of old events.
create index webhook_event_webhook_id_idx on webhook_event (webhook_id);
create index webhook_event_created_date_idx on webhook_event using brin (created_date);

create table webhook_attempt (
  id bigint generated always as identity primary key,
  event_id uuid not null references webhook_event (id) on delete cascade,
  webhook_id uuid not null references webhook (id) on delete cascade,
  attempt int not null default 1,
  is_replay boolean not null default false,
  state text not null default 'Pending' check (state in ('Pending', 'Succeeded', 'Failed')),
  due_date timestamptz not null default clock_timestamp(),
  claimed_until timestamptz,
  date timestamptz not null default clock_timestamp(),
  duration_ms int,
  request jsonb,
  response jsonb,
  error text,
  next_attempt_date timestamptz
) with (fillfactor = 70);
comment on table webhook_attempt is 'Every try of telling a webhook of an event: what is to be tried (Pending), and the history (R-I5)';
comment on column webhook_attempt.attempt is 'From 1 on; of a replay, the number after the last';
comment on column webhook_attempt.is_replay is 'Asked for by a manager: tried once, with no retries';
comment on column webhook_attempt.due_date is 'Earliest instant of the try';
comment on column webhook_attempt.claimed_until is 'A process is at it until then; after that it died and anybody may try again';
comment on column webhook_attempt.date is 'Instant it began; of one Pending, when it was planned';
comment on column webhook_attempt.request is '{method, url, headers, body} as sent, the body up to 64 KiB';
comment on column webhook_attempt.response is '{status, headers, body} as received, the body up to 4 KiB; null: there was none';
comment on column webhook_attempt.error is 'Why it failed, for a manager to understand';
comment on column webhook_attempt.next_attempt_date is 'When it is tried again after it failed; null: it is not';
-- GET /account/webhooks/{id}/history, newest first.
create index webhook_attempt_webhook_id_idx on webhook_attempt (webhook_id, id desc);
-- Those of them that failed, among any number that did not.
create index webhook_attempt_failed_idx on webhook_attempt (webhook_id, id desc) where state = 'Failed';
-- What is due of a webhook, the oldest first; which webhooks have anything due.
create index webhook_attempt_due_idx on webhook_attempt (webhook_id, due_date) where state = 'Pending';
-- Of a webhook whose receiver asked for a pause only replays are sent meanwhile (R-I5): found without looking at all that waits.
create index webhook_attempt_replay_idx on webhook_attempt (webhook_id, due_date) where state = 'Pending' and is_replay;
-- The cascade.
create index webhook_attempt_event_id_idx on webhook_attempt (event_id);

create table webhook_test (
  id uuid primary key default gen_random_uuid(),
  account_id int not null references account (id) on delete cascade,
  webhook jsonb not null,
  data jsonb not null,
  state text not null default 'Pending' check (state in ('Pending', 'Succeeded', 'Failed')),
  request jsonb,
  response jsonb,
  error text,
  claimed_until timestamptz,
  created_date timestamptz not null default clock_timestamp()
);
comment on table webhook_test is 'A try of a webhook that is not, or not yet, one of the account''s; kept 24 h (R-I7)';
comment on column webhook_test.webhook is 'The fields to try; its secrets among them until it ended';
comment on column webhook_test.data is '`data` of the body';
comment on column webhook_test.request is 'As in webhook_attempt, likewise response, error and claimed_until';
-- The sweep of old ones.
create index webhook_test_created_date_idx on webhook_test (created_date);
-- Those that wait.
create index webhook_test_pending_idx on webhook_test (created_date) where state = 'Pending';
-- The cascade.
create index webhook_test_account_id_idx on webhook_test (account_id);
