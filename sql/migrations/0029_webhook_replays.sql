-- Of a webhook whose receiver asked for a pause only replays are sent meanwhile (R-I5): found without looking at all that waits.
create index webhook_attempt_replay_idx on webhook_attempt (webhook_id, due_date) where state = 'Pending' and is_replay;
