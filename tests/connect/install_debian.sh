#!/bin/sh
# Installs what Debian has of brokers and databases, where it is missing: mosquitto, nats-server, redis-server,
# postgresql, and openssl.
set -eu
PATH="$PATH:/usr/sbin:/usr/local/sbin"
missing=""
for binary in mosquitto nats-server redis-server openssl; do
    command -v "$binary" > /dev/null || missing="$missing $binary"
done
ls /usr/lib/postgresql/*/bin/pg_ctl > /dev/null 2>&1 || command -v pg_ctl > /dev/null || missing="$missing postgresql"
[ -n "$missing" ] || exit 0
command -v apt-get > /dev/null || { echo "There is no apt-get here: install$missing." >&2; exit 1; }
as_root=""
[ "$(id -u)" = 0 ] || as_root="sudo"
echo "== installing$missing"
$as_root apt-get -qq update
# No service is started: the tests start their own.
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 $as_root apt-get -qq install --yes --no-install-recommends $missing
