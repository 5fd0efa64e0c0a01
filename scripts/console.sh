#!/usr/bin/env bash
# The console: the page that the server shows at `/`. Its sources are in console/, the files made of them in
# crates/htm-server/console. These are versioned, so that building HTM needs neither Node.js nor npm.
#   console.sh build           makes the files
#   console.sh check           fails if they are not what the sources make
#   console.sh test            checks them, and tests the page in Chromium; arguments are names of tests: search memory …
#   console.sh screenshots     makes the pictures of the guides; with a folder, one of each view there, to look at
set -euo pipefail
cd "$(dirname "$0")/../console"
what="${1:?build, check, test or screenshots}"
shift

say() { echo "console: $*" >&2; }

command -v npm >/dev/null || { say "npm is not here; install Node.js 20 or later"; exit 1; }
if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
    npm ci --no-audit --no-fund >/dev/null
fi

if [ "$what" = build ]; then
    exec npm run build
fi
npm run check
made=node_modules/.made
npx vite build --outDir "$made" --emptyOutDir --logLevel warn
diff -r "$made" ../crates/htm-server/console >/dev/null || {
    say "crates/htm-server/console is not what console/ makes; run \`./justw console\` and commit it"
    exit 1
}
[ "$what" = check ] && exit 0

chromium="${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}"
if [ -z "$chromium" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing Chromium"
    { apt-get update -q && apt-get install -y -q chromium; } >/dev/null
    chromium="$(command -v chromium || true)"
fi
[ -n "$chromium" ] || { say "no Chromium: install it (Debian: apt-get install chromium), or set CHROMIUM to its path"; exit 1; }
export CHROMIUM="$chromium"
npx tsc --project tests
if [ "$what" = screenshots ]; then
    exec node node_modules/.tests/screenshots.js "$@"
fi
tests=()
for name in "$@"; do tests+=("node_modules/.tests/$name.test.js"); done
[ ${#tests[@]} -gt 0 ] || tests=(node_modules/.tests/*.test.js)
node --test --test-concurrency=1 "${tests[@]}"
