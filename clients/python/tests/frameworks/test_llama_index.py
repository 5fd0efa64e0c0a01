"""The memory block of LlamaIndex, in its own memory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.memory import Memory
from llama_index.core.storage.chat_store.sql import MessageStatus

from htm_memory import AsyncHtm, errors
from htm_memory.llama_index import HtmMemoryBlock


def user(text):
    return ChatMessage(role="user", content=text)


async def test_what_leaves_the_short_term_memory_is_recalled(async_htm, namespace):
    block = HtmMemoryBlock(htm=async_htm, namespace=namespace, limit=1, query_messages=1)
    memory = Memory.from_defaults(
        session_id="standup",
        memory_blocks=[block],
        token_limit=60,
        chat_history_token_ratio=0.5,
        token_flush_size=10,
        tokenizer_fn=str.split,
    )
    await memory.aput(user("Staging moved to port 5434."))
    for n in range(12):
        await memory.aput(user(f"Small talk {n} about the weather of the day."))
        await memory.aput(ChatMessage(role="assistant", content="It rains again."))
    await memory.aput(user("Which port is staging on?"))
    short_term = await memory.aget_all(status=MessageStatus.ACTIVE)
    assert not any("5434" in it.content for it in short_term)
    prompt = "\n".join(it.content or "" for it in await memory.aget())
    assert "user: Staging moved to port 5434." in prompt


async def test_messages_are_memories_of_their_session(async_htm, namespace):
    block = HtmMemoryBlock(htm=async_htm, namespace=namespace)
    image = ChatMessage(role="user", blocks=[ImageBlock(url="http://x/y.png")])
    parts = ChatMessage(role="assistant", blocks=[TextBlock(text="one"), TextBlock(text="nul \0 two")])
    await block.aput([user("zebra crossing"), image, user(" "), parts], session_id="a", from_short_term_memory=True)
    timeline = await async_htm.recall.timeline(filter={"namespaces": [namespace], "session": "a"})
    assert [(it.speaker, it.content) for it in timeline.entries] == [
        ("user", "zebra crossing"),
        ("assistant", "one\nnul  two"),
    ]
    assert await block.aget([user("zebra")], session_id="b") != ""
    own = HtmMemoryBlock(htm=async_htm, namespace=namespace, own_session=True)
    assert await own.aget([user("zebra")], session_id="b") == await own.aget([user("zebra")]) == ""
    assert "user: zebra crossing" in (await own.aget([user("zebra")], session_id="a")).splitlines()
    assert await block.aget([]) == await block.aget([image]) == await block.aget() == ""
    # All of them, or none.
    with pytest.raises(errors.ContentTooLarge):
        await block.aput([user("penguin parade"), user("x" * (2 << 20))], session_id="c", from_short_term_memory=True)
    timeline = await async_htm.recall.timeline(filter={"namespaces": [namespace], "session": "c"})
    assert timeline.entries == []


async def test_the_least_relevant_lines_are_cut_first():
    block = HtmMemoryBlock(htm=AsyncHtm())
    lines = ["user: first one", "user: second", "user: third"]
    content = "\n".join(lines)
    assert await block.atruncate(content, 0) == content
    assert await block.atruncate(content, 1) == "\n".join(lines[:2])
    assert await block.atruncate(content, 4) == lines[0]
    assert await block.atruncate(content, 1_000) is None
    # The framework gives a list if nothing was recalled.
    for nothing in ("", []):
        assert await block.atruncate(nothing, 0) is await block.atruncate(nothing, 10) is None


async def test_a_prompt_over_its_limit_may_have_nothing_recalled():
    block = HtmMemoryBlock(htm=AsyncHtm(), priority=1)
    memory = Memory.from_defaults(session_id="standup", memory_blocks=[block], token_limit=10)
    # A picture is no query.
    picture = ChatMessage(role="user", blocks=[ImageBlock(url="http://x/y.png")])
    await memory.aput(picture)
    assert [it.blocks for it in await memory.aget()] == [picture.blocks]


def test_the_example_runs(url):
    root = Path(__file__).parent.parent.parent
    example = root / "examples" / "llama_index_memory.py"
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, example], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == ["recalled: user: Staging moved to port 5434."], done.stderr
