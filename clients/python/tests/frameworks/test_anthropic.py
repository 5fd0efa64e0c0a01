"""Anthropic's memory tool, beside the SDK's own with files on a disk."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("anthropic")

from anthropic.tools import BetaLocalFilesystemMemoryTool, ToolError

from htm_memory.anthropic import AsyncHtmMemoryTool, HtmMemoryTool

FILES = ["/memories/a.md", "/memories/b/c.md", "/memories/b/d/e.md", "/memories/ü.md"]
TEXTS = ["", "one\n", "one\ntwo\nthree\n", "two", "Füße 📝\n\none", "x" * 1500, "tabs\ttabs\n"]
PIECES = ["one", "two", "\n", "t", "three\n", "ß", "nowhere"]


def command(chance: random.Random) -> dict:
    name = chance.choice(["view", "create", "create", "str_replace", "insert", "delete", "rename"])
    path = chance.choice(FILES)
    match name:
        case "create":
            return {"command": name, "path": path, "file_text": chance.choice(TEXTS)}
        case "str_replace":
            return {"command": name, "path": path, "old_str": chance.choice(PIECES), "new_str": chance.choice(PIECES)}
        case "insert":
            line, text = chance.randint(-1, 4), chance.choice(PIECES)
            return {"command": name, "path": path, "insert_line": line, "insert_text": text}
        case "rename":
            return {"command": name, "old_path": path, "new_path": chance.choice(FILES)}
    return {"command": name, "path": path}


def reply(tool, given):
    try:
        return tool.call(given)
    except ToolError as error:
        return str(error)


async def reply_later(tool, given):
    try:
        return await tool.call(given)
    except ToolError as error:
        return str(error)


async def test_the_replies_are_those_of_the_sdk(htm, async_htm, namespace, tmp_path):
    theirs = BetaLocalFilesystemMemoryTool(str(tmp_path))
    ours = HtmMemoryTool(htm, f"{namespace}/sync"), AsyncHtmMemoryTool(async_htm, f"{namespace}/async", robot="ada")
    chance = random.Random(11)
    for _ in range(300):
        given = command(chance)
        try:
            expected = reply(theirs, given)
        except OSError:
            continue  # Such as a file in the place of a directory: the SDK has no reply.
        finally:
            for place, directories, files in os.walk(tmp_path / "memories", topdown=False):
                if not directories and not files and place != str(tmp_path / "memories"):
                    os.rmdir(place)  # HTM has no empty directories.
        assert [reply(ours[0], given), await reply_later(ours[1], given)] == [expected] * 2, given


async def test_all_is_cleared(htm, async_htm, namespace):
    for tool, call in [(HtmMemoryTool(htm, namespace), False), (AsyncHtmMemoryTool(async_htm, namespace), True)]:
        for path in FILES:
            given = {"command": "create", "path": path, "file_text": "x"}
            assert "successfully" in (await tool.call(given) if call else tool.call(given))
        htm.memories.create("no file", namespace=namespace)
        cleared = await tool.clear_all_memory() if call else tool.clear_all_memory()
        assert cleared == "All memory cleared"
        assert [it.content for it in htm.memories.list(namespace=namespace).memories] == ["no file"]


async def test_a_key_of_a_robot_writes(htm_of_robot, async_htm_of_robot, namespace):
    tools = (HtmMemoryTool(htm_of_robot, namespace), AsyncHtmMemoryTool(async_htm_of_robot, namespace))
    given = {"command": "create", "path": FILES[0], "file_text": "one"}
    for said in (tools[0].call(given), await tools[1].call({**given, "path": FILES[1]})):
        assert "successfully" in said
    assert "one" in tools[0].call({"command": "view", "path": FILES[1]})
    assert await tools[1].clear_all_memory() == "All memory cleared"
    assert htm_of_robot.memories.list(namespace=namespace).memories == []


def test_the_example_runs(url):
    root = Path(__file__).parent.parent.parent
    example = root / "examples" / "anthropic_memory_tool.py"
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, example], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[0] == "File created successfully at: /memories/editor.md", done.stderr
    assert done.stdout.splitlines()[-1] == "recalled: Mara prefers spaces."
