"""The examples of the client's README, and of HTM's, run as they stand."""

import ast
import asyncio
import inspect
import io
import json
import re
from pathlib import Path

import pytest

from htm_memory import Htm

FOLDERS = [Path(__file__).parents[1], Path(__file__).parents[3]]
READMES = [folder / "README.md" for folder in FOLDERS if (folder / "README.md").is_file()]
BLOCK = re.compile(r"(<!-- not run: [^\n]*-->\n)?```python\n(.*?)```", re.S)
BLOCKS = [block for readme in READMES for block in BLOCK.findall(readme.read_text())]


@pytest.mark.parametrize("code", [code for skipped, code in BLOCKS if not skipped])
def test_an_example_runs(code, url, monkeypatch):
    monkeypatch.setenv("HTM_URL", url)
    code = code.replace("http://127.0.0.1:7480", url)
    compiled = compile(code, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    with Htm(url) as htm:
        names = {"htm": htm, "json": json, "texts": ["one", "two"], "file": io.StringIO()}
        if inspect.iscoroutine(result := eval(compiled, names)):
            asyncio.run(result)
