#!/usr/bin/env python3
"""Makes the list of what is compiled into HTM's programs (an SBOM in CycloneDX's JSON): a file for each platform.

  sbom.py [--out FOLDER] [TARGET …]   into target/sbom; the targets are those of deny.toml unless named

The crates come from Cargo.lock by cargo-cyclonedx, and what the console's page is made of from console/package-lock.json.
One commit gives the same bytes each time. cargo-cyclonedx is built into this checkout's .tools first, which takes minutes.
Exit status: 0 when they are made, 1 with a line that says why not.
"""

import argparse
import base64
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".tools"
VERSION = "0.5.9"
# The package whose programs are htm, embed-worker, tag-worker and learn-worker: clients/python/Cargo.toml.
PACKAGE = "htm-memory"
# cargo-cyclonedx writes beside each manifest of the workspace.
UNFINISHED = "sbom-unfinished"


class Failed(Exception):
    """A failure, as one line for people."""


def run(*command, **options):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, cwd=ROOT, **options)
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        raise Failed(f"`{' '.join(map(str, command))}` failed")
    return done.stdout.strip()


def tool():
    """cargo-cyclonedx in its pinned version."""
    program = TOOLS / "bin" / "cargo-cyclonedx"
    if not program.exists() or run(program, "cyclonedx", "--version").split()[-1] != VERSION:
        run("cargo", "install", "cargo-cyclonedx", "--version", VERSION, "--locked", "--force", "--root", TOOLS)
    return program


def targets():
    """The platforms of a release."""
    graph = re.search(r"(?m)^targets = \[(.*?)\]", (ROOT / "deny.toml").read_text(encoding="utf-8"), re.DOTALL)
    return re.findall(r'"([\w-]+)"', graph[1])


def crates(program, target, members):
    """The list of cargo-cyclonedx for the programs on a platform."""
    # With a time it leaves out the random serial number.
    time = os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct")
    manifest = members[PACKAGE] / "Cargo.toml"
    try:
        run(program, "cyclonedx", "--quiet", "--manifest-path", manifest, "--features", "programs", "--target", target,
            "--format", "json", "--spec-version", "1.5", "--override-filename", UNFINISHED,
            env={**os.environ, "SOURCE_DATE_EPOCH": time})
        text = (members[PACKAGE] / f"{UNFINISHED}.json").read_text(encoding="utf-8")
    finally:
        for member in members.values():
            (member / f"{UNFINISHED}.json").unlink(missing_ok=True)
    # Without the place of the checkout, which differs between machines.
    return json.loads(text.replace(f"path+{ROOT.as_uri()}/", "path+file:///"))


def console():
    """The packages of npm in the console's page, which is compiled into `htm`."""
    lock = json.loads((ROOT / "console" / "package-lock.json").read_text(encoding="utf-8"))
    for path, package in lock["packages"].items():
        if not path or package.get("dev"):
            continue
        name = path.removeprefix("node_modules/")
        reference = f"pkg:npm/{name.replace('@', '%40')}@{package['version']}"
        algorithm, digest = package["integrity"].split("-", 1)
        yield {
            "type": "library",
            "bom-ref": reference,
            "name": name,
            "version": package["version"],
            "scope": "required",
            "hashes": [{"alg": algorithm.upper().replace("SHA", "SHA-"), "content": base64.b64decode(digest).hex()}],
            "licenses": [{"expression": package["license"]}],
            "purl": reference,
        }


def whole(bom):
    """The list with the console's packages, as dependencies of the server that shows the page."""
    added = list(console())
    server = next(it["bom-ref"] for it in bom["components"] if it["name"] == "htm-server")
    bom["components"] += added
    for dependency in bom["dependencies"]:
        if dependency["ref"] == server:
            dependency.setdefault("dependsOn", []).extend(it["bom-ref"] for it in added)
    bom["dependencies"] += [{"ref": it["bom-ref"]} for it in added]
    return bom


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "target" / "sbom", metavar="FOLDER")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    arguments = parser.parse_args()
    try:
        metadata = json.loads(run("cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"))
        members = {it["name"]: Path(it["manifest_path"]).parent for it in metadata["packages"]}
        version = next(it["version"] for it in metadata["packages"] if it["name"] == PACKAGE)
        program = tool()
        arguments.out.mkdir(parents=True, exist_ok=True)
        for target in arguments.targets or targets():
            bom = whole(crates(program, target, members))
            path = arguments.out / f"htm-{version}-{target}.cdx.json"
            path.write_text(json.dumps(bom, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            print(f"{path} ({len(bom['components'])} components)")
    except (Failed, OSError) as error:
        print(f"sbom: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
