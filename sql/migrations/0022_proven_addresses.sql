-- Whether a user reads the mails of their address: whoever is invited under it to another account must not be somebody
-- else, to whom a manager gave that address (R-B10).
alter table app_user
  add secret_sent_to text,
  add proven_email text;
comment on column app_user.secret_sent_to is 'Address the temporary password was mailed to; null: none is waiting';
comment on column app_user.proven_email is
  'Address whose mails the user was seen to read: a password was chosen with a secret sent there. It may no longer be
the address of the user; null: none';
update app_user set proven_email = email where password_changed_date is not null;

alter table password_reset add sent_to text;
comment on column password_reset.sent_to is 'Address the link was mailed to';
