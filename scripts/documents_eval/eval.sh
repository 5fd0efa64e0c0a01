#!/usr/bin/env bash
# How often recall finds the right page, and the passage that answers, in 307 pages that `htm load` has loaded: README.md beside
# this. Arguments go to `htm load`, such as `--size 600`. Questions are asked as `htm recall` asks them; DOCUMENTS_EVAL_RECALL has
# more options of it, such as `--strategy fulltext`. The private PostgreSQL is of its own, and thrown away afterwards.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$(cd "${CARGO_TARGET_DIR:-target}/release" && pwd)
cd scripts/documents_eval
PATH="$bin:$PATH"
namespace="documents-eval"
python3 fetch.py
python3 check.py

work=$(mktemp -d /tmp/htm-eval.XXXXXX)
chmod 755 "$work" # root's PostgreSQL runs as another user, who must get there
export HTM_DATA_DIR="$work/data"
export HTM_DATABASE__URL="" HTM_DATABASE__URL_FILE="" # the private one, whatever the configuration says

finish() {
    htm db down >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

htm db up
htm db migrate
(cd corpus/pages && htm load . --namespace "$namespace" "$@")
embed-worker --drain
python3 run.py --ask "$namespace" --recall="${DOCUMENTS_EVAL_RECALL:-}"
python3 score.py "runs/$namespace.jsonl" --kinds
