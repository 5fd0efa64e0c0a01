"""The virtual environment of the comparison: its own packages, and the rivals. Their versions are pinned; those of the
packages that they need are not, and are in the JSON."""

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# The packages of the comparison itself: vectors, raw SQL, and the dependencies of HTM's own client.
OWN = "numpy==2.4.6 psycopg[binary,pool]==3.3.9 httpx==0.28.1 httpx-sse==0.4.3 pydantic==2.14.4"
RIVALS = {
    "mem0": "mem0ai==2.2.1",
    "LangGraph": "langgraph-checkpoint-postgres==3.2.0 langgraph-checkpoint==4.3.2",
}


def place():
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute() / "tmp" / "bench-venv"


def install(python, packages, *others):
    """Installs packages beside others. Returns why it cannot, as one line, or nothing."""
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    wanted = " ".join((packages, *others)).split()
    done = subprocess.run([*command, *wanted], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode == 0:
        return None
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()] or ["no reason given"]
    reasons = [line for line in lines if line.startswith("ERROR")]  # before advice and notices
    return f"pip could not install {packages}: {(reasons or lines)[-1]}"


def fetch():
    """Makes the environment unless it is there. Returns its Python."""
    wanted = json.dumps([OWN, RIVALS])
    done, python = place() / ".done", place() / "bin" / "python"
    if done.is_file() and done.read_text() == wanted:
        return python
    print("fetching the packages of the comparison from PyPI, once", file=sys.stderr)
    # The remains of an interrupted run.
    shutil.rmtree(place(), ignore_errors=True)
    place().parent.mkdir(parents=True, exist_ok=True)
    venv.create(place(), with_pip=True)
    if reason := install(python, OWN):
        sys.exit(f"bench: {reason}")
    # Each with the packages that are there, so that no rival changes those of another.
    reasons = {name: install(python, packages, OWN) for name, packages in RIVALS.items()}
    skipped = {name: reason for name, reason in reasons.items() if reason}
    (place() / "skipped.json").write_text(json.dumps(skipped))
    if not skipped:  # else the next run tries again
        done.write_text(wanted)
    return python


def skipped():
    """The rivals that could not be installed, each with the reason."""
    return json.loads((place() / "skipped.json").read_text())
