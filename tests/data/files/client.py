"""Compares the files of HTM with those of Anthropic's SDK: `client.py GUIDE URL SEED STEPS`.

GUIDE is docs/files.md, whose adapter is run as it is printed. Both tools get the same random commands. Prints as JSON how
often each command succeeded and was refused, and exits with 1 at the first reply that differs.
"""

import json
import random
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

from anthropic.tools import BetaLocalFilesystemMemoryTool, ToolError

PATHS = ["/memories/a.md", "/memories/a", "/memories/b.txt", "/memories/d/x.md", "/memories/d/e/y.md", "/memories/d/e/f/z.md",
         "/memories/d", "/memories/d/e", "/memories/.hidden", "/memories/é ü.md", "/memories", "/memories/g/ö.md"]
TEXTS = ["", "\n", " \n\t", "one\n", "one\ntwo\nthree\n", "two", "a\r\nb\r\n", "Füße 📝\n\none", "x" * 1500, "tabs\ttabs\n"]
PIECES = ["one", "two", "\n", "t", "", "three\n", "ß", "📝", "nowhere", "\r\n"]


def command(chance):
    name = chance.choice(["view", "view", "create", "create", "str_replace", "str_replace", "insert", "insert", "delete", "rename"])
    path = chance.choice(PATHS)
    given = {"command": name, "path": path}
    if name == "view" and chance.random() < 0.4:
        first = chance.randint(0, 6)
        given["view_range"] = [first, chance.choice([-1, first + chance.randint(0, 4)])]
    if name == "create":
        given["file_text"] = chance.choice(TEXTS)
    if name == "str_replace":
        given.update(old_str=chance.choice(PIECES), new_str=chance.choice(PIECES))
    if name == "insert":
        given.update(insert_line=chance.randint(-1, 6), insert_text=chance.choice(PIECES + TEXTS))
    if name == "rename":
        given = {"command": name, "old_path": path, "new_path": chance.choice(PATHS)}
    return given


def reply(tool, given):
    try:
        return True, tool.call(given)
    except ToolError as error:
        return False, str(error)


def without_empty_directories(root):
    """HTM has no empty directories."""
    for place in sorted(root.rglob("*"), reverse=True):
        if place.is_dir() and not any(place.iterdir()):
            place.rmdir()


def without_sizes_of_directories(text):
    """A file system has sizes of its own for these."""
    if not text.startswith("Here're the files"):
        return text
    head, directory, *rest = text.split("\n")
    return [head, directory.split("\t")[1]] + [line.split("\t")[1] if line.endswith("/") else line for line in rest]


def main(guide, url, seed, steps):
    adapter = re.search(r"```python\n(.*?)```", Path(guide).read_text(), re.DOTALL).group(1)
    names = {}
    exec(compile(adapter.replace("http://127.0.0.1:7480", url), guide, "exec"), names)
    ours = names["HtmMemoryTool"]("sdk")
    chance, seen = random.Random(seed), Counter()
    with tempfile.TemporaryDirectory() as place:
        theirs = BetaLocalFilesystemMemoryTool(place)
        root = Path(place) / "memories"
        for _ in range(int(steps)):
            given = command(chance)
            try:
                expected = reply(theirs, given)
            except OSError:
                # Such as a file in the place of a directory. The SDK's tool has no reply for it; HTM refuses it.
                assert not reply(ours, given)[0], given
                seen["other"] += 1
                continue
            finally:
                without_empty_directories(root)
            found = reply(ours, given)
            if [found[0], without_sizes_of_directories(found[1])] != [expected[0], without_sizes_of_directories(expected[1])]:
                sys.exit(f"{given}\nexpected {expected}\nfound    {found}")
            seen[f"{given['command']} {'done' if found[0] else 'refused'}"] += 1
    print(json.dumps(seen))


main(*sys.argv[1:])
