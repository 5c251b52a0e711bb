#!/bin/sh
# Makes the cluster on first start, then becomes PostgreSQL. Needs DATABASE_PASSWORD on first start only.
#   superuser postgres: from inside the container alone; role and database tidemark: what the roles use.
set -eu
umask 077

data=/data/cluster
here=$(dirname "$0")

if [ ! -d "$data" ]; then
  : "${DATABASE_PASSWORD:?set it to the password the database shall ask for}"
  unfinished=/data/unfinished
  # An interrupted first start leaves this behind; only a finished one is renamed.
  rm -rf "$unfinished"
  initdb --pgdata "$unfinished" --username postgres --auth-local peer --auth-host scram-sha-256 --encoding UTF8 \
    --locale C.UTF-8
  cat > "$unfinished/pg_hba.conf" <<'RULES'
# The socket lies in the container: whoever reaches it runs there already.
local all      all          trust
host  tidemark tidemark all scram-sha-256
RULES
  # Without TCP, so that nobody meets a half-made database.
  pg_ctl --pgdata "$unfinished" --wait start -o "-c config_file=$here/database.conf -c listen_addresses=''"
  psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 --username postgres --host /tmp postgres <<'STATEMENTS'
\getenv password DATABASE_PASSWORD
create role tidemark login password :'password';
create database tidemark owner tidemark;
\connect tidemark
create extension timescaledb;
STATEMENTS
  pg_ctl --pgdata "$unfinished" --wait stop
  mv "$unfinished" "$data"
fi

unset DATABASE_PASSWORD
exec postgres -D "$data" -c "config_file=$here/database.conf" "$@"
