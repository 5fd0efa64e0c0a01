#!/usr/bin/env bash
# Gathers the files of a release in target/release-files: the wheels of target/wheels, the man pages and completions,
# the sources, the lists of what is compiled in (sbom.py), and SHA256SUMS over them. Needs wheels, a program `htm` of this
# version (HTM_PROGRAM, or that of the search path) and a clean checkout. HTM_WHEELS names another folder of wheels.
set -euo pipefail
cd "$(dirname "$0")/.."
out=target/release-files
wheels="${HTM_WHEELS:-target/wheels}"
htm="${HTM_PROGRAM:-htm}"

fail() { echo "release-files: $*" >&2; exit 1; }

version=$(cargo metadata --locked --no-deps --format-version 1 |
    python3 -c 'import json, sys; print({it["name"]: it["version"] for it in json.load(sys.stdin)["packages"]}["htm-cli"])')
[ -z "$(git status --porcelain)" ] || fail "the checkout has changes: commit them first"
ls "$wheels"/htm_memory-"$version"-*.whl >/dev/null 2>&1 || fail "$wheels has no wheel of $version: \`./justw wheel\`"
said=$("$htm" --version) || fail "no program htm: set HTM_PROGRAM to one of $version"
[ "$said" = "htm $version" ] || fail "$htm is \"$said\", not htm $version"

rm -rf "$out"
beside="$out/htm-$version"
mkdir -p "$beside"
cp "$wheels"/htm_memory-"$version"-*.whl "$out" # the folder may have those of other versions
cp "$wheels"/htm_memory_minilm-*.whl "$out"
git archive --prefix="htm-$version/" --output="$out/htm-$version-source.tar.gz" HEAD
python3 scripts/sbom.py --out "$out"

# As a package lays them out below /usr.
"$htm" man --to "$beside/share/man/man1"
for program in htm embed-worker tag-worker learn-worker; do
    while read -r shell file; do
        mkdir -p "$beside/share/$(dirname "$file")"
        "$htm" completions "$shell" "$program" > "$beside/share/$file"
    done <<END
bash bash-completion/completions/$program
zsh zsh/site-functions/_$program
fish fish/vendor_completions.d/$program.fish
elvish elvish/lib/$program.elv
powershell powershell/$program.ps1
END
done
cp LICENSE-MIT LICENSE-APACHE CHANGELOG.md "$beside"
tar -czf "$out/htm-$version-man-completions.tar.gz" -C "$out" "htm-$version"
rm -r "$beside"

cd "$out"
python3 - * > ../SHA256SUMS <<'END'
import hashlib, pathlib, sys
for name in sys.argv[1:]:
    print(f"{hashlib.sha256(pathlib.Path(name).read_bytes()).hexdigest()}  {name}")
END
mv ../SHA256SUMS .
cat SHA256SUMS
