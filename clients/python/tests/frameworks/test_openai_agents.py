"""Sessions of the OpenAI Agents SDK, beside its own."""

import asyncio
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("agents")

from agents.memory import Session, SessionSettings, SQLiteSession

from htm_memory import errors
from htm_memory.openai_agents import HtmSession

ITEMS = [
    {"role": "user", "content": "Staging moved to port 5434."},
    {"role": "user", "content": "yes"},
    {"role": "user", "content": " "},
    {"role": "user", "content": "nul \0 and \ud7ff ß 📝"},
    {"role": "user", "content": "half \ud83d of an emoji"},
    {"role": "user", "content": [{"type": "input_text", "text": "one"}, {"type": "input_image", "image_url": "x"}]},
    {"type": "function_call", "call_id": "c", "name": "ports", "arguments": '{"b": 1.50, "a": [null, 1e3]}'},
    {"type": "function_call_output", "call_id": "c", "output": "y" * 100_000},
    {"z": 1, "a": {"n": 0.1, "big": 2**60}, "role": "assistant", "content": ""},
]


async def test_it_is_the_session_that_they_have(async_htm, namespace):
    """Random operations, with two sessions of the same name over it."""
    theirs = SQLiteSession("standup")
    ours = [HtmSession("standup", async_htm, namespace=namespace) for _ in range(2)]
    assert isinstance(ours[0], Session)
    chance = random.Random(7)
    for _ in range(250):
        session = chance.choice(ours)
        match chance.choices(["add", "get", "pop", "clear"], [4, 4, 3, 0.2])[0]:
            case "add":
                items = [chance.choice(ITEMS) for _ in range(chance.randint(0, 4))]
                await session.add_items(items)
                await theirs.add_items(items)
            case "get":
                limit = chance.choice([None, None, 0, 1, 3, 50])
                assert await session.get_items(limit) == await theirs.get_items(limit)
            case "pop":
                assert await session.pop_item() == await theirs.pop_item()
            case "clear":
                await session.clear_session()
                await theirs.clear_session()
    other = HtmSession("retro", async_htm, namespace=namespace)
    assert await other.get_items() == []


async def test_other_memories_of_the_session_are_no_items(async_htm, namespace):
    session = HtmSession("standup", async_htm, namespace=namespace)
    await session.add_items([{"role": "user", "content": f"{n}"} for n in range(3)])
    for text in ("a note", "another"):
        await async_htm.memories.create(text, namespace=namespace, session="standup")
    assert [it["content"] for it in await session.get_items()] == ["0", "1", "2"]
    assert [it["content"] for it in await session.get_items(2)] == ["1", "2"]
    assert (await session.pop_item())["content"] == "2"
    await session.clear_session()
    assert await session.get_items() == []
    assert len((await async_htm.memories.list(namespace=namespace)).memories) == 2


async def test_no_item_is_popped_twice(async_htm, namespace):
    session = HtmSession("standup", async_htm, namespace=namespace, session_settings=SessionSettings(limit=2))
    await session.add_items([{"role": "user", "content": f"{n}"} for n in range(12)])
    assert [it["content"] for it in await session.get_items()] == ["10", "11"]
    popped = await asyncio.gather(*(session.pop_item() for _ in range(14)))
    assert sorted(int(it["content"]) for it in popped if it) == list(range(12))
    with pytest.raises(errors.ContentTooLarge):
        await session.add_items([{"role": "user", "content": "z" * size} for size in (1, 2 << 20)])
    assert await session.get_items() == []


async def test_a_key_of_a_robot_takes_back_what_it_said(async_htm_of_robot, namespace):
    session = HtmSession("standup", async_htm_of_robot, namespace=namespace)
    await session.add_items(ITEMS[:3])
    assert await session.pop_item() == ITEMS[2]
    await session.clear_session()
    assert await session.get_items() == []


def test_the_example_runs(url):
    root = Path(__file__).parent.parent.parent
    example = root / "examples" / "openai_agents_session.py"
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, example], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == [
        "1 items; you said: Staging moved to port 5434.",
        "3 items; you said: Which port is staging on?",
        "recalled: Staging moved to port 5434.",
    ], done.stderr
