#!/usr/bin/env python3
"""Adds to each image of config/deploy the digest that its tag names now, for a release: `./justw pin-images`.

A tag can be moved to another image, a digest cannot. Needs docker with buildx, and the registries. Run it again to follow
a tag. Another directory may be named instead. Exit status: 0 when every image has its digest, 1 with a line that says which
has none; then no file is changed.
"""

import re
import subprocess
import sys
from pathlib import Path

DEPLOY = Path(__file__).resolve().parent.parent / "config" / "deploy"
# What a file names by `FROM`, `# syntax=` or `image:`; the stages of the build and our own image have no tag or no registry.
NAMED = re.compile(r"(?m)^(?P<before>FROM |# syntax=|\s*image: )(?P<image>[\w./-]+:[\w.-]+)(?:@sha256:[0-9a-f]{64})?")


def digest(image):
    command = ["docker", "buildx", "imagetools", "inspect", image, "--format", "{{.Manifest.Digest}}"]
    try:
        asked = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError as error:
        raise SystemExit(f"pin-images: docker does not run: {error.strerror}")
    found = asked.stdout.strip()
    if asked.returncode != 0 or not re.fullmatch(r"sha256:[0-9a-f]{64}", found):
        raise SystemExit(f"pin-images: no digest of {image}: {(asked.stderr.strip() or found)[-300:]}")
    return found


def main(deploy):
    files = [path for path in (deploy / "Dockerfile", deploy / "compose.yaml") if path.is_file()]
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    images = {found["image"] for text in texts.values() for found in NAMED.finditer(text)}
    digests = {image: digest(image) for image in sorted(images) if not image.startswith("htm:")}
    for path, text in texts.items():
        def pinned(found):
            image = found["image"]
            return f"{found['before']}{image}@{digests[image]}" if image in digests else found[0]
        path.write_text(NAMED.sub(pinned, text), encoding="utf-8")
    for image, found in digests.items():
        print(f"{image}@{found}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DEPLOY)
