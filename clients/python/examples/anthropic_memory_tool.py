"""Anthropic's memory tool with its files in HTM. The commands stand in for those of a model."""

import os

from htm_memory import Htm
from htm_memory.anthropic import HtmMemoryTool

with Htm(os.environ.get("HTM_URL", "http://127.0.0.1:7480")) as htm:
    tool = HtmMemoryTool(htm, "examples/anthropic")
    tool.clear_all_memory()
    for command in (
        {"command": "create", "path": "/memories/editor.md", "file_text": "Mara prefers tabs.\n"},
        {"command": "str_replace", "path": "/memories/editor.md", "old_str": "tabs", "new_str": "spaces"},
        {"command": "view", "path": "/memories/editor.md"},
    ):
        print(tool.call(command))
    found = htm.recall.recall(query="tabs or spaces?", filter={"namespaces": ["examples/anthropic"]})
    print("recalled:", found.hits[0].content.strip())
