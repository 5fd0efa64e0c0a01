#!/usr/bin/env bash
# Every test of the workspace; arguments go to the runner: cargo-nextest where it is installed, else `cargo test`.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$PATH:$PWD/.tools/bin"

cargo build --workspace --bins # some tests start the programs themselves

# The tests' own cluster stays up for the whole run; without this each test that finds it stopped would start it.
htm="${CARGO_TARGET_DIR:-target}/debug/htm"
HTM_TEST_DATA_DIR="${HTM_TEST_DATA_DIR:-$(mktemp -d /tmp/htm-test.XXXXXX)}"
export HTM_TEST_DATA_DIR
chmod 755 "$HTM_TEST_DATA_DIR" # as root, the server runs as another user
if [ -z "${HTM_TEST_DATABASE_URL:-}" ]; then
    stop() { HTM_DATA_DIR="$HTM_TEST_DATA_DIR" "$htm" db down >/dev/null; rm -rf "$HTM_TEST_DATA_DIR"; }
    trap stop EXIT
    HTM_DATA_DIR="$HTM_TEST_DATA_DIR" "$htm" db up >/dev/null
fi
if command -v cargo-nextest >/dev/null && cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --workspace ${CI:+--profile ci} "$@"
    cargo test --workspace --doc
else
    cargo test --workspace --no-fail-fast "$@"
fi
