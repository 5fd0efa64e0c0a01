# `./justw RECIPE` runs these everywhere; `just RECIPE` where just is installed.

export PATH := env_var("PATH") + ":" + justfile_directory() + "/.tools/bin"
# Where cargo builds, whichever variable or file configures it: the scripts look there for the programs.
export CARGO_TARGET_DIR := `cargo metadata --no-deps --format-version 1 2>/dev/null |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])' 2>/dev/null || echo target`
bin := CARGO_TARGET_DIR + "/debug"

# List the recipes
default:
    @just --justfile "{{justfile()}}" --list --unsorted

# Fetch PostgreSQL and the local model into HTM_HOME; says what was there already
setup:
    @python3 scripts/setup.py

# Build, then show the main job end to end on the collection that the project ships
demo *args: setup
    cargo build --workspace --bins
    "{{bin}}/htm" demo {{args}}

# Run the tests, those against a real PostgreSQL too; arguments go to the runner
test *args: setup
    scripts/test.sh {{args}}

# Test the private PostgreSQL, its upgrade, backups and replicas, by servers of their own
test-servers *args: setup
    scripts/test.sh --servers {{args}}

# Test the clients of other languages, also beside agents' frameworks, and imports beside their origins; packages are large, and kept
test-frameworks *args: setup
    scripts/test.sh --frameworks {{args}}

# Test the upgrade from the last tag: its programs are built, and work beside those of this version
test-upgrade *args: setup
    scripts/last_release.sh {{args}}

# Test the console in a browser: Chromium, which is installed where that is possible
test-browser *args: setup
    cargo build --workspace --bins --examples # as the tests do: without the examples' features everything is built anew
    scripts/console.sh test {{args}}

# Score recall on the sets below HTM_EVAL_DIR (../shared/eval), a table a set
eval *args: setup
    scripts/eval.sh {{args}}

# Score recall on documents: 247 questions over 307 pages of an npm package; arguments go to `htm load`
eval-documents *args: setup
    cargo build --release --workspace --bins
    scripts/documents_eval/eval.sh {{args}}

# Evaluate what is learnt from feedback, on the sets below HTM_EVAL_DIR, by conversations that are left out
eval-learning *args: setup
    python3 scripts/learning_eval.py {{args}}

# HTM beside mem0, LangGraph's store and raw SQL (rivals from PyPI, kept); --quick, --rows, --rounds, --json FILE, --markdown
bench *args: setup
    cargo build --release --workspace --bins --examples # an example is the floor of the embeddings
    python3 scripts/bench.py {{args}}

# Run the benchmarks in Rust: ratios to floors of the same run
bench-rust *args: setup
    cargo build --release --workspace --bins
    cargo bench -p htm-tests {{args}}

# Throughput by worker processes; --kill, --netns, and others: see tests/benches/workers.rs
bench-workers *args: setup
    cargo build --release -p embed-worker
    cargo bench -p htm-tests --bench workers -- {{args}}

# How fast memories are found, by strategy and filter; --nodes 10000,100000,1000000 takes half an hour
bench-recall *args: setup
    cargo bench -p htm-tests --bench recall -- {{args}}

# The kinds of a vector index beside one another; --nodes 100000,1000000 takes two hours
bench-indexes *args: setup
    cargo bench -p htm-tests --bench indexes -- {{args}}

# The memories in one table and in partitions, beside one another; --nodes 1000000 takes an hour
bench-partitions *args: setup
    cargo bench -p htm-tests --bench partitions -- {{args}}

# The bytes of a filled database beside those of `htm capacity`; --nodes 1000000 takes half an hour
bench-capacity *args: setup
    cargo bench -p htm-tests --bench capacity -- {{args}}

# How fast the local model embeds, beside onnxruntime and sentence-transformers from PyPI (gigabytes, removed afterwards)
bench-embed *args: setup
    python3 scripts/bench_embed.py {{args}}

# The fault tests at length, with a backlog of a million jobs (gigabytes of disk), then property tests of many cases; arguments choose tests
soak *args: setup
    HTM_FAULT_SECONDS="${HTM_FAULT_SECONDS:-300}" scripts/test.sh --soak {{args}}

# Generated requests to every path of the HTTP server, for some seconds
fuzz-api seconds="600": setup
    cargo build --workspace --bins
    python3 scripts/fuzz_api.py "{{bin}}/../tmp/schemathesis" {{seconds}}

# Make the clients of other languages from the description of the server
clients: setup
    HTM_WRITE_DOCS=1 cargo test -q -p htm-tests --test clients they_are_made
    python3 scripts/sdk_clients.py client-python target/tmp/sdk-client-python
    cd clients && ../target/tmp/sdk-client-python/bin/python -B -W ignore -m generate python python/htm_memory/_generated
    cd clients && ../target/tmp/sdk-client-python/bin/python -B -m generate typescript typescript/src/generated

# Make the files of the console from its sources in console/
console:
    scripts/console.sh build

# Make the pictures of the console in docs/images; with a folder, one of each view there
screenshots *args: setup
    cargo build --workspace --bins
    scripts/console.sh screenshots {{args}}

# Make the wheels: the Python client with HTM's programs, and the model; arguments go to maturin
wheel *args:
    python3 scripts/setup.py model maturin
    python3 scripts/wheels.py {{args}}

# List what is compiled into the programs, as CycloneDX JSON: a file a platform in target/sbom
sbom *args:
    @python3 scripts/sbom.py {{args}}

# Gather a release's files in target/release-files: wheels that are made already, man pages, completions, SBOM, checksums
release-files *args:
    scripts/release_files.sh {{args}}

# Format the code
fmt:
    cargo fmt --all

# Check format, clippy and rustdoc; a warning is an error
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# Check the dependencies' licences, sources and bans (deny.toml), and known vulnerabilities where their list can be fetched
deny:
    @scripts/deny.sh

# Add to each image of config/deploy the digest that its tag names now: for a release, needs docker
pin-images:
    @python3 scripts/pin_images.py

# Build, then run the private PostgreSQL, the workers and the HTTP server until Ctrl-C
up *args: setup
    cargo build --workspace --bins
    "{{bin}}/htm" up {{args}}

# Remove what was built and the tools in .tools; memories and HTM_HOME stay
clean:
    cargo clean
    rm -rf .tools
