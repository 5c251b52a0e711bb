#!/bin/sh
# Execs Redis for BullMQ: no eviction, jobs survive a restart. The configuration goes over standard input, so that process
# lists do not show the password.
set -eu
umask 077
: "${REDIS_PASSWORD:?must be set to the password of Redis}"
password=$REDIS_PASSWORD
unset REDIS_PASSWORD
exec redis-server - <<SETTINGS
bind * -::*
port 6379
requirepass "$password"
dir /data
daemonize no
maxmemory-policy noeviction
appendonly yes
save ""
SETTINGS
