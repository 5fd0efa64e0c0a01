#!/usr/bin/env bash
# How often recall finds the right page, and the passage that answers, in 307 pages that `htm load` has loaded: README.md beside
# this. Arguments go to `htm load`, such as `--size 600`. Questions are asked as `htm recall` asks them; DOCUMENTS_EVAL_RECALL has
# more options of it, such as `--strategy fulltext`.
set -euo pipefail
cd "$(dirname "$0")"
PATH="$PWD/../../target/release:$PATH"
namespace="documents-eval"
python3 fetch.py
python3 check.py
(cd corpus/pages && htm load . --namespace "$namespace" "$@")
embed-worker --drain
python3 run.py --ask "$namespace" --recall="${DOCUMENTS_EVAL_RECALL:-}"
python3 score.py "runs/$namespace.jsonl" --kinds
