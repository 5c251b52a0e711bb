#!/bin/sh
# Becomes Redis for BullMQ: nothing is evicted, jobs survive a restart. The password comes over standard input, so that
# no list of processes shows it.
set -eu
umask 077
: "${REDIS_PASSWORD:?set it to the password Redis shall ask for}"
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
