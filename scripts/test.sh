#!/usr/bin/env bash
# Every test of the workspace; arguments go to nextest. Without nextest, and when it cannot be fetched, `cargo
# test` runs the same tests, only slower.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$PATH:$PWD/.tools/bin"

if ! command -v cargo-nextest >/dev/null; then
    python3 scripts/setup.py nextest || echo "test: no cargo-nextest; cargo test runs instead" >&2
fi
cargo build --workspace --bins # some tests start the programs themselves
if command -v cargo-nextest >/dev/null && cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --workspace ${CI:+--profile ci} "$@"
    cargo test --workspace --doc
else
    cargo test --workspace --no-fail-fast
fi
