#!/bin/sh
# Run by the PostgreSQL image when it makes its database: the role of applications and workers, which owns nothing.
# `htm db migrate --application-role htm_app` says what it may do. In a database that was made before, create it by hand.
set -eu
psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --set password="$APP_PASSWORD" <<'SQL'
create role htm_app login password :'password';
SQL
