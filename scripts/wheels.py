#!/usr/bin/env python3
"""Makes the wheels of the Python client: that of the programs, by maturin, and that of the model. Needs `setup.py model
maturin` and cargo.

  wheels.py [ARGUMENT …]   both, into target/wheels; the arguments go to `maturin build`
  wheels.py --model        the model's alone

HTM_WHEELS names another folder. HTM_WHEEL_PROGRAMS, for tests, is a folder of programs that are built already: they are
packed as maturin would, and nothing is compiled.
Exit status: 0 when they are made, 1 with a line that says why not.
"""

import base64
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from setup import TOOLS, htm_home

ROOT = Path(__file__).resolve().parent.parent
MODEL = "all-MiniLM-L6-v2"
VERSION = "1.0.0"
# What the program reads, and the model's own description. The pinned wheel has the same files.
FILES = {
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
    "README.md": "7dfc82496ec33f906b5b0d6750c1e2397da6530c74d1ae3568c55bc2739125e7",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
}
METADATA = f"""Metadata-Version: 2.4
Name: htm-memory-minilm
Version: {VERSION}
Summary: The embedding model of htm-memory: sentence-transformers/{MODEL}
License-Expression: Apache-2.0
License-File: LICENSE
License-File: NOTICE
Requires-Python: >=3.10
Description-Content-Type: text/markdown

"""
PROGRAMS = ["htm", "embed-worker", "tag-worker", "learn-worker"]
WHEEL = "Wheel-Version: 1.0\nGenerator: htm wheels.py\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


class Failed(Exception):
    """What could not be done, as one line for people."""


def model_files():
    """The model's files that setup.py has put in place, checked."""
    place = htm_home() / "models" / MODEL
    for name, digest in FILES.items():
        try:
            content = (place / name).read_bytes()
        except OSError as error:
            raise Failed(f"{error.strerror}: {place / name}; `./justw setup` fetches the model") from None
        if hashlib.sha256(content).hexdigest() != digest:
            raise Failed(f"{place / name} is not the model's own file: its sha256 differs")
        yield f"htm_memory_models/{MODEL}/{name}", content


def make_model(folder):
    """Writes the model's wheel: the same bytes each time."""
    info = f"htm_memory_minilm-{VERSION}.dist-info"
    about = ROOT / "clients" / "model"
    files = [
        *model_files(),
        (f"{info}/licenses/LICENSE", (ROOT / "LICENSE-APACHE").read_bytes()),
        (f"{info}/licenses/NOTICE", (about / "NOTICE").read_bytes()),
        (f"{info}/METADATA", METADATA.encode() + (about / "README.md").read_bytes()),
        (f"{info}/WHEEL", WHEEL.encode()),
    ]
    return pack(folder, f"htm_memory_minilm-{VERSION}-py3-none-any.whl", info, files)


def pack(folder, name, info, files):
    """Writes a wheel of files and their record."""
    record = "".join(f"{path},sha256={record_hash(content)},{len(content)}\n" for path, content in files)
    files = [*files, (f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode())]
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f".{name}.part"
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files:
            entry = zipfile.ZipInfo(path)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if ".data/scripts/" in path else 0o100644) << 16
            archive.writestr(entry, content)
    unfinished.rename(folder / name)
    return folder / name


def record_hash(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def maturin(*arguments, quiet=False):
    command = [str(TOOLS / "maturin"), *arguments, "--manifest-path", str(ROOT / "clients/python/Cargo.toml")]
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True} if quiet else {}
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, **output)
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}; `python3 scripts/setup.py maturin` fetches it") from None
    if done.returncode != 0:
        raise Failed(f"maturin failed {(done.stdout or '').strip()}".strip())


def pack_programs(folder, programs):
    """Writes the wheel of programs that are built already, as `maturin build` lays it out."""
    with tempfile.TemporaryDirectory() as scratch:
        maturin("pep517", "write-dist-info", "--compatibility", "linux", "--metadata-directory", scratch, quiet=True)
        info = next(Path(scratch).iterdir()).name
        about = [path for path in sorted(Path(scratch).rglob("*")) if path.is_file()]
        files = [(str(path.relative_to(scratch)), path.read_bytes()) for path in about]
    tag = dict(files)[f"{info}/WHEEL"].decode().split("Tag: ")[1].split()[0]
    package = ROOT / "clients" / "python"
    for path in sorted((package / "htm_memory").rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            files.append((str(path.relative_to(package)), path.read_bytes()))
    name = info.removesuffix(".dist-info")
    files += [(f"{name}.data/scripts/{program}", (programs / program).read_bytes()) for program in PROGRAMS]
    return pack(folder, f"{name}-{tag}.whl", info, files)


def main(arguments):
    if "-h" in arguments or "--help" in arguments:
        print(__doc__)
        return 0
    folder = Path(os.environ.get("HTM_WHEELS") or ROOT / "target" / "wheels").absolute()
    programs = os.environ.get("HTM_WHEEL_PROGRAMS")
    try:
        made = [make_model(folder)]
        if programs:
            made.append(pack_programs(folder, Path(programs)))
        elif arguments != ["--model"]:
            maturin("build", "--release", "--out", str(folder), *arguments)
            made += sorted(folder.glob("htm_memory-*.whl"))
    except (Failed, OSError) as error:
        print(f"wheels: {error}", file=sys.stderr)
        return 1
    for wheel in made:
        print(f"{wheel} ({wheel.stat().st_size / 1e6:.1f} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
