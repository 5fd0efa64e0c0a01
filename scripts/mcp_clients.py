#!/usr/bin/env python3
"""Fetches the official MCP SDKs for the tests of `htm mcp`. Python standard library, pip and npm only.

  mcp_clients.py python DIR      PyPI's mcp, in a virtual environment at DIR
  mcp_clients.py javascript DIR  npm's @modelcontextprotocol/sdk, in DIR/node_modules

What is there already stays as it is. The settings of pip and npm hold. Exit status: 0 when it is in place, 1 with a line
that says what is not and why.
"""

import shutil
import subprocess
import sys
import venv
from pathlib import Path

PYTHON = "mcp==2.3.0"
JAVASCRIPT = "@modelcontextprotocol/sdk@1.32.2"


def run(*command):
    """Runs a command. Its last line is the reason if it fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200)
    except (OSError, subprocess.TimeoutExpired) as error:
        sys.exit(f"{command[0]}: {error}")
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if line.strip()] or ["no reason given"]
        sys.exit(f"{Path(command[0]).name}: {lines[-1]}")


def python(place):
    # Not built elsewhere and moved: its scripts have its path in them.
    venv.create(place, with_pip=True)
    run(str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PYTHON)


def javascript(place):
    npm = shutil.which("npm")
    if not npm or not shutil.which("node"):
        sys.exit("node or npm is not installed")
    place.mkdir()
    run(npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(place), JAVASCRIPT)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("python", "javascript"):
        sys.exit(__doc__.strip())
    kind, place = sys.argv[1], Path(sys.argv[2]).absolute()
    done = place / ".done"
    wanted = PYTHON if kind == "python" else JAVASCRIPT
    if done.is_file() and done.read_text() == wanted:
        return
    # What an interrupted run left behind.
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    (python if kind == "python" else javascript)(place)
    done.write_text(wanted)


main()
