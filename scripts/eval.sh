#!/usr/bin/env bash
# Scores recall on each set below HTM_EVAL_DIR (default ../shared/eval), one row a strategy, in a private
# PostgreSQL of its own that is thrown away afterwards. With HTM_EVAL_KEEP=1 the runs stay and their place is said.
set -euo pipefail
cd "$(dirname "$0")/.."

sets=${HTM_EVAL_DIR:-../shared/eval}
found=()
for corpus in "$sets"/*/corpus.jsonl; do
    if [ -f "$corpus" ]; then found+=("$(dirname "$corpus")"); fi
done
if [ ${#found[@]} -eq 0 ]; then
    echo "eval: no set below $sets (a set is a folder with corpus.jsonl, queries.jsonl, qrels.jsonl); nothing to do"
    exit 0
fi
if [ ! -f "$sets/score.py" ]; then
    echo "eval: $sets/score.py is missing" >&2
    exit 1
fi

cargo build --release --workspace --bins
bin=${CARGO_TARGET_DIR:-target}/release
work=$(mktemp -d /tmp/htm-eval.XXXXXX)
chmod 755 "$work" # root's PostgreSQL runs as another user, who must get there
export HTM_DATABASE__URL="" HTM_DATABASE__URL_FILE="" # the private one, whatever the configuration says

finish() {
    if [ -n "${HTM_DATA_DIR:-}" ]; then "$bin/htm" db down >/dev/null 2>&1 || true; fi
    if [ -n "${HTM_EVAL_KEEP:-}" ]; then echo "eval: runs kept in $work"; else rm -rf "$work"; fi
}
trap finish EXIT
trap 'exit 130' INT TERM

for set in "${found[@]}"; do
    name=$(basename "$set")
    export HTM_DATA_DIR="$work/$name"
    "$bin/htm" db up
    "$bin/htm" db migrate
    "$bin/htm" import "$set/corpus.jsonl"
    "$bin/embed-worker" --drain
    runs=()
    for strategy in vector fulltext hybrid; do
        "$bin/htm" recall --strategy "$strategy" --limit 20 --batch "$set/queries.jsonl" >"$work/$name.$strategy"
        runs+=("$work/$name.$strategy")
    done
    python3 "$sets/score.py" "$set" "${runs[@]}" "$@"
    "$bin/htm" db down >/dev/null
    if [ -z "${HTM_EVAL_KEEP:-}" ]; then rm -rf "$HTM_DATA_DIR"; fi
    unset HTM_DATA_DIR
done
