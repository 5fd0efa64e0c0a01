#!/usr/bin/env bash
# Every test of the workspace; arguments go to the runner: cargo-nextest where it is installed, else `cargo test`.
# `--soak` first: the fault tests alone, and those that are ignored because they take long. `--frameworks` first: those
# alone that need the packages of agents' frameworks and of the systems that memories come from, which are large. `--upgrade`
# first: those of the upgrade alone.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$PATH:$PWD/.tools/bin"

with_nextest=(--workspace ${CI:+--profile ci})
without=(--workspace --no-fail-fast)
kind=all
if [ "${1:-}" = --soak ]; then
    shift
    kind=soak
    # As a part of the workspace: by itself it would be built with other features, and its dependencies again.
    with_nextest=(--workspace --test faults --profile soak --run-ignored all)
    without=(--workspace --test faults --no-fail-fast)
fi

if [ "${1:-}" = --frameworks ]; then
    shift
    kind=frameworks
    with_nextest=(--workspace --test clients --test import_from --run-ignored only --no-fail-fast)
    without=(--workspace --test clients --test import_from --no-fail-fast)
fi

if [ "${1:-}" = --upgrade ]; then
    shift
    kind=upgrade
    with_nextest=(--workspace --test upgrade)
    without=(--workspace --test upgrade)
fi

cargo build --workspace --bins --examples # some tests start the programs themselves

# The tests' own cluster stays up for the whole run; without this each test that finds it stopped would start it.
htm="${CARGO_TARGET_DIR:-target}/debug/htm"
# In memory where there is enough: a test's database has 500 files, which take longest to make on a disk.
cluster=/tmp
enough=$((8 << 20)) # KiB
if [ $kind = all ] && [ "$(df --output=avail /dev/shm 2>/dev/null | tail -1)" -gt $enough ] 2>/dev/null; then
    cluster=/dev/shm
fi
made= # a directory that the caller names is the caller's, and stays
if [ -z "${HTM_TEST_DATA_DIR:-}" ]; then
    made=$(mktemp -d "$cluster/htm-test.XXXXXX")
    HTM_TEST_DATA_DIR=$made
fi
export HTM_TEST_DATA_DIR
if [ $kind = all ]; then # half of the tests' time is waiting
    export NEXTEST_TEST_THREADS="${NEXTEST_TEST_THREADS:-$((2 * $(getconf _NPROCESSORS_ONLN)))}"
fi
chmod 755 "$HTM_TEST_DATA_DIR" # as root, the server runs as another user
if [ -z "${HTM_TEST_DATABASE_URL:-}" ]; then
    stop() {
        HTM_DATA_DIR="$HTM_TEST_DATA_DIR" "$htm" db down --force >/dev/null
        if [ -n "$made" ]; then rm -rf "$made"; fi
    }
    trap stop EXIT
    HTM_DATA_DIR="$HTM_TEST_DATA_DIR" "$htm" db up >/dev/null
    # Workers that tests kill leave connections for a moment: the usual 200 can run out.
    # Each buffer is looked at when a database is made and when it is dropped: of 2 GB, that takes longer than the rest.
    printf '%s\n' 'max_connections = 400' 'shared_buffers = 128MB' >>"$HTM_TEST_DATA_DIR/data/postgresql.auto.conf"
    HTM_DATA_DIR="$HTM_TEST_DATA_DIR" "$htm" db down --force >/dev/null
    HTM_DATA_DIR="$HTM_TEST_DATA_DIR" "$htm" db up >/dev/null
fi
HTM_TEST_LOGS="$HTM_TEST_DATA_DIR/logs"
export HTM_TEST_LOGS
mkdir -p "$HTM_TEST_LOGS"
if command -v cargo-nextest >/dev/null && cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run "${with_nextest[@]}" "$@"
    if [ $kind = all ]; then cargo test --workspace --doc; fi
elif [ $kind != all ]; then
    cargo test "${without[@]}" "$@" -- --include-ignored
else
    cargo test "${without[@]}" "$@"
fi
# A test that lacks what it needs passes, and says what it left out.
find "$HTM_TEST_LOGS" -name '*-skipped.txt' -exec cat {} +
python3 scripts/check_logs.py "$HTM_TEST_LOGS"
