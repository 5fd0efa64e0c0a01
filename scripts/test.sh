#!/usr/bin/env bash
# The tests of the workspace; arguments go to the runner: cargo-nextest where it is installed, else `cargo test`.
# `--soak` first: only the fault tests, also the slow ones that are otherwise ignored, and then the property tests with
# more cases. `--frameworks` first: only those that need packages of other languages. `--servers` first: only those of the
# private PostgreSQL, its upgrade, backups and replicas. `--upgrade` first: only those of the upgrade.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$PATH:$PWD/.tools/bin"

kind=all
case "${1:-}" in --soak | --frameworks | --servers | --upgrade) kind=${1#--} && shift ;; esac
# As parts of the workspace: by themselves they would be built with other features, and their dependencies again.
case $kind in
all)
    with_nextest=(--workspace ${CI:+--profile ci})
    # Without arguments, those of `--servers` are left out: they take a seventh of the time.
    if [ $# = 0 ]; then
        with_nextest+=(-E 'not (binary(backup) or binary(pg_upgrade) or binary(private_pg) or binary(replicas))')
    fi
    without=(--workspace --no-fail-fast)
    ;;
soak)
    # A name may be of one of the two runs only.
    with_nextest=(--workspace --test faults --profile soak --no-tests warn --run-ignored all)
    without=(--workspace --test faults --no-fail-fast)
    properties=(--workspace --lib --bins --test properties)
    export PROPTEST_CASES="${PROPTEST_CASES:-20000}"
    ;;
frameworks)
    without=(--workspace --test clients --test import_from --test mcp --test server --no-fail-fast)
    with_nextest=("${without[@]}" --run-ignored only)
    ;;
servers)
    without=(--workspace --test backup --test pg_upgrade --test private_pg --test replicas --no-fail-fast)
    with_nextest=("${without[@]}")
    ;;
upgrade)
    without=(--workspace --test upgrade)
    with_nextest=("${without[@]}")
    ;;
esac

cargo build --workspace --bins --examples # some tests start the programs themselves

# The tests' own cluster stays up for the whole run; without this each test that finds it stopped would start it.
htm="${CARGO_TARGET_DIR:-target}/debug/htm"
# In memory where there is enough: a test's database has 500 files, which take longest to make on a disk.
cluster=/tmp
enough=$((8 << 20)) # KiB
case $kind in all | servers) many=yes ;; *) many= ;; esac
if [ -n "$many" ] && [ "$(df --output=avail /dev/shm 2>/dev/null | tail -1)" -gt $enough ] 2>/dev/null; then
    cluster=/dev/shm
fi
made= # a directory that the caller names is the caller's, and stays
if [ -z "${HTM_TEST_DATA_DIR:-}" ]; then
    made=$(mktemp -d "$cluster/htm-test.XXXXXX")
    HTM_TEST_DATA_DIR=$made
fi
export HTM_TEST_DATA_DIR
threads=$((3 * $(getconf _NPROCESSORS_ONLN))) # half of the tests' time is waiting
if [ -n "$many" ]; then
    export NEXTEST_TEST_THREADS="${NEXTEST_TEST_THREADS:-$threads}"
fi
chmod 755 "$HTM_TEST_DATA_DIR" # as root, the server runs as another user
if [ -z "${HTM_TEST_DATABASE_URL:-}" ]; then
    stop() {
        HTM_DATA_DIR="$HTM_TEST_DATA_DIR" "$htm" db down --force >/dev/null
        if [ -n "$made" ]; then rm -rf "$made"; fi
    }
    trap stop EXIT
    HTM_DATA_DIR="$HTM_TEST_DATA_DIR" "$htm" db up >/dev/null
    # A test has up to fifty connections, and workers that it kills leave theirs for a moment: the usual 200 can run out.
    # Each buffer is looked at when a database is made and when it is dropped: of 2 GB, that takes longer than the rest.
    printf '%s\n' "max_connections = $((200 + 50 * threads))" 'shared_buffers = 128MB' >>"$HTM_TEST_DATA_DIR/data/postgresql.auto.conf"
    HTM_DATA_DIR="$HTM_TEST_DATA_DIR" "$htm" db down --force >/dev/null
    HTM_DATA_DIR="$HTM_TEST_DATA_DIR" "$htm" db up >/dev/null
fi
HTM_TEST_LOGS="$HTM_TEST_DATA_DIR/logs"
export HTM_TEST_LOGS
mkdir -p "$HTM_TEST_LOGS"
if command -v cargo-nextest >/dev/null && cargo nextest --version >/dev/null 2>&1; then
    # Each test is started once, not by a start of the runner.
    NEXTEST_DOUBLE_SPAWN=0 cargo nextest run "${with_nextest[@]}" "$@"
    if [ $kind = all ]; then cargo test --workspace --doc; fi
    if [ $kind = soak ]; then
        cargo nextest run "${properties[@]}" --profile soak --no-tests warn "$@"
    fi
elif [ $kind != all ]; then
    cargo test "${without[@]}" "$@" -- --include-ignored
    if [ $kind = soak ]; then cargo test "${properties[@]}" --no-fail-fast "$@"; fi
else
    cargo test "${without[@]}" "$@"
fi
# A test that lacks what it needs passes, and says what it left out.
find "$HTM_TEST_LOGS" -name '*-skipped.txt' -exec cat {} +
python3 scripts/check_logs.py "$HTM_TEST_LOGS"
