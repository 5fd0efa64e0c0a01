"""The examples of the README run as they stand."""

import ast
import asyncio
import inspect
import io
import json
import re
from pathlib import Path

import pytest

from htm_memory import Htm

README = (Path(__file__).parent.parent / "README.md").read_text()
BLOCKS = re.findall(r"(<!-- not run: [^\n]*-->\n)?```python\n(.*?)```", README, re.S)


@pytest.mark.parametrize("code", [code for skipped, code in BLOCKS if not skipped])
def test_an_example_runs(code, url, monkeypatch):
    monkeypatch.setenv("HTM_URL", url)
    code = code.replace("http://127.0.0.1:7480", url)
    compiled = compile(code, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    with Htm(url) as htm:
        names = {"htm": htm, "json": json, "texts": ["one", "two"], "file": io.StringIO()}
        if inspect.iscoroutine(result := eval(compiled, names)):
            asyncio.run(result)
