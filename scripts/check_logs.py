#!/usr/bin/env python3
"""Fails if the logs of a test run have a secret or the text of a memory.

The argument is the directory HTM_TEST_LOGS of the run: `*-logs.txt` are the logs of its programs, `*-memories.jsonl`
the memories of its databases.
"""

import json
import re
import sys
from pathlib import Path

# A key of the API, a token of an authorization server (a JWT), and the password that tests use.
SECRETS = re.compile(r"htm_[0-9a-f]{12}_[0-9a-f]{64}|eyJ[\w-]+\.eyJ[\w-]+|hunter2")
# Shorter texts are words that logs have too. A text is looked for by its start.
LENGTH = 20


def lines_of(file: Path) -> list[str]:
    # Not by splitlines, for which other characters end a line too.
    return [line for line in file.read_text(encoding="utf-8").split("\n") if line]


def main() -> int:
    place = Path(sys.argv[1])
    starts = set()
    for file in place.glob("*-memories.jsonl"):
        for line in lines_of(file):
            text = json.loads(line)
            if len(text) >= LENGTH and " " in text[:LENGTH]:
                starts.add(text[:LENGTH])
    lines = [line for file in place.glob("*-logs.txt") for line in lines_of(file)]
    found = []
    for line in lines:
        logged = line.split(": ", 1)[-1]
        windows = (logged[at : at + LENGTH] for at in range(len(logged) - LENGTH + 1))
        if SECRETS.search(logged) or any(window in starts for window in windows):
            found.append(line)
    for line in found[:20]:
        print(f"a secret or the text of a memory is in a log: {line}", file=sys.stderr)
    if not lines or not starts:
        # A run of a few tests may have none of both.
        print(f"logs: {len(lines)} lines, {len(starts)} texts: nothing to compare")
    elif not found:
        print(f"logs: {len(lines)} lines have none of {len(starts)} texts and no secret")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
