#!/usr/bin/env bash
# Tests the upgrade from the last release: builds the programs of the last tag before this commit (HTM_LAST_TAG names another
# commit), and runs the tests of the upgrade with them. Without a tag there is nothing to upgrade from.
set -euo pipefail
cd "$(dirname "$0")/.."

tag=${HTM_LAST_TAG:-$(git describe --tags --abbrev=0 --match 'v*' HEAD^ 2>/dev/null || true)}
if [ -z "$tag" ]; then
    echo "skipped: this clone has no tag of a release"
    exit 0
fi
commit=$(git rev-parse "$tag^{commit}")
place=${CARGO_TARGET_DIR:-target}/last-release
mkdir -p "$place"
place=$(cd "$place" && pwd)
if [ "$(cat "$place/commit" 2>/dev/null)" != "$commit" ]; then
    rm -rf "$place/source" "$place/commit"
    mkdir "$place/source"
    # With the time of now: cargo takes sources that are older than a build as built.
    git archive "$commit" | tar -xm -C "$place/source"
    echo "$commit" >"$place/commit"
fi
echo "the programs of $tag"
(cd "$place/source" &&
    CARGO_TARGET_DIR="$place/build" CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 cargo build --locked --workspace --bins)
HTM_LAST_RELEASE="$place/build/debug" scripts/test.sh --upgrade "$@"
