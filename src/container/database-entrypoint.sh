#!/bin/sh
# Creates the cluster on first start, then execs PostgreSQL. DATABASE_PASSWORD is needed on first start only.
# The superuser postgres can connect from inside the container only; Tidemark uses the role and the database tidemark.
set -eu
umask 077

data=/data/cluster
here=$(dirname "$0")

# Lets the role tidemark make backups, unless pg_hba.conf already has a rule for them. A cluster of an earlier version
# has no rule, and there the role also needs the attribute REPLICATION: see src/container/README.md.
allow_backups() {
  grep -q '^host  *replication ' "$1/pg_hba.conf" || echo 'host  replication tidemark all scram-sha-256' >> "$1/pg_hba.conf"
}

if [ ! -d "$data" ]; then
  : "${DATABASE_PASSWORD:?must be set to the password of the role tidemark}"
  unfinished=/data/unfinished
  # An interrupted first start leaves this directory. Only a complete cluster is renamed to $data.
  rm -rf "$unfinished"
  initdb --pgdata "$unfinished" --username postgres --auth-local peer --auth-host scram-sha-256 --encoding UTF8 \
    --locale C.UTF-8
  cat > "$unfinished/pg_hba.conf" <<'RULES'
# The socket is reachable from inside the container only.
local all      all          trust
host  tidemark tidemark all scram-sha-256
RULES
  allow_backups "$unfinished"
  # Without TCP, so that clients never see an incomplete database.
  pg_ctl --pgdata "$unfinished" --wait start -o "-c config_file=$here/database.conf -c listen_addresses=''"
  psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 --username postgres --host /tmp postgres <<'STATEMENTS'
\getenv password DATABASE_PASSWORD
create role tidemark login replication password :'password';
create database tidemark owner tidemark;
\connect tidemark
create extension timescaledb;
STATEMENTS
  pg_ctl --pgdata "$unfinished" --wait stop
  mv "$unfinished" "$data"
fi

allow_backups "$data"
unset DATABASE_PASSWORD
exec postgres -D "$data" -c "config_file=$here/database.conf" "$@"
