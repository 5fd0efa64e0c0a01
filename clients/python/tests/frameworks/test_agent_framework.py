"""The providers of Microsoft's Agent Framework, beside its own."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("agent_framework")

from agent_framework import AgentResponse, AgentSession, Content, FileHistoryProvider, Message, SessionContext

from htm_memory import errors
from htm_memory.agent_framework import HtmContextProvider, HtmHistoryProvider

MESSAGES = [
    Message("user", ["Staging moved to port 5434."], message_id="m1"),
    Message("user", ["yes"]),
    Message("user", [" "]),
    Message("user", ["nul \0 and ß 📝"], author_name="Mara"),
    Message("user", ["one", Content.from_uri("https://example.com/x.png", media_type="image/png")]),
    Message("assistant", [Content.from_function_call("c", "ports", arguments='{"b": 1.50}')]),
    Message("tool", [Content.from_function_result("c", result="y" * 100_000)]),
    Message("assistant", [], additional_properties={"z": [1, {"n": 0.1}], "big": 2**60}),
]


def plain(messages):
    return [it.to_dict() for it in messages]


async def test_it_is_the_history_that_they_have(async_htm, namespace, tmp_path):
    """Random operations on two sessions, with two providers over each."""
    theirs = FileHistoryProvider(tmp_path)
    ours = [HtmHistoryProvider(async_htm, namespace=namespace) for _ in range(2)]
    chance = random.Random(5)
    for _ in range(80):
        session = chance.choice(["standup", "retro/ß"])
        history = chance.choice(ours)
        if chance.random() < 0.5:
            said = [chance.choice(MESSAGES) for _ in range(chance.randint(0, 4))]
            await history.save_messages(session, said)
            await theirs.save_messages(session, said)
        else:
            assert plain(await history.get_messages(session)) == plain(await theirs.get_messages(session))
    assert await ours[0].get_messages("other") == await ours[0].get_messages(None) == []
    with pytest.raises(errors.ContentTooLarge):
        await ours[0].save_messages("other", [Message("user", ["z" * (2 << 20)])])


async def test_half_of_an_emoji_is_kept_and_asked_about(async_htm, namespace):
    history = HtmHistoryProvider(async_htm, namespace=namespace)
    said = [Message("user", ["half \ud83d of an emoji"])]
    await history.save_messages("standup", said)
    assert plain(await history.get_messages("standup")) == plain(said)
    provider = HtmContextProvider(async_htm, namespace=namespace, remembers=False)
    [told] = await run(provider, "other", "half \ud83d")
    assert "half ? of an emoji" in told


async def run(provider, session, said, answer=None):
    """A run of an agent without a model: the provider's context, and what it does with the answer."""
    context = SessionContext(session_id=session, input_messages=[Message("user", [said])])
    shared = {"agent": None, "session": AgentSession(session_id=session), "context": context, "state": {}}
    await provider.before_run(**shared)
    context._response = AgentResponse(messages=[Message("assistant", [answer])]) if answer else None
    await provider.after_run(**shared)
    return [it.text for it in context.get_messages()]


async def test_what_was_said_is_in_the_context_of_later_runs(async_htm, namespace):
    provider = HtmContextProvider(async_htm, namespace=namespace, limit=2)
    assert await run(provider, "standup", "Staging moved to port 5434.", "Noted.") == []
    assert await run(provider, "standup", "  ") == []
    (context,) = await run(provider, "retro", "Which port is staging on?")
    assert "- user: Staging moved to port 5434." in context.splitlines()
    timeline = await async_htm.recall.timeline(filter={"namespaces": [namespace], "session": "standup"})
    assert [(it.speaker, it.content) for it in timeline.entries] == [
        ("user", "Staging moved to port 5434."),
        ("assistant", "Noted."),
    ]
    silent = HtmContextProvider(async_htm, namespace=namespace, remembers=False)
    assert len(await run(silent, "silent", "port")) == 1
    assert (await async_htm.recall.timeline(filter={"namespaces": [namespace], "session": "silent"})).entries == []
    elsewhere = HtmContextProvider(async_htm, namespace=f"{namespace}/other")
    assert await run(elsewhere, "retro", "Which port is staging on?") == []


def test_the_example_runs(url):
    root = Path(__file__).parent.parent.parent
    example = root / "examples" / "agent_framework_memory.py"
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, example], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == ["agent: I know: user: Staging moved to port 5434."], done.stderr
