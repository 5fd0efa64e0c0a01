"""The memory of Google's Agent Development Kit."""

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

pytest.importorskip("google.adk")

from google.adk.events import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import InMemorySessionService
from google.genai import types

from htm_memory import AsyncHtm, errors
from htm_memory.google_adk import HtmMemoryService

MARA = {"app_name": "atlas/1", "user_id": "mara %2F"}


def event(text: str | None, author: str = "user", **more) -> Event:
    parts = [types.Part(text=text)] if text is not None else []
    return Event(author=author, content=types.Content(role="user", parts=parts), **more)


def texts(found) -> list[str]:
    return [entry.content.parts[0].text for entry in found.memories]


async def test_what_was_said_in_a_session_is_found_by_its_user_alone(async_htm, namespace):
    memory, sessions = HtmMemoryService(async_htm, namespace=namespace), InMemorySessionService()
    session = await sessions.create_session(**MARA)
    for it in (event("Staging moved to port 5434."), event(" "), event(None), event("Mara prefers tabs.", "ada")):
        await sessions.append_event(session, it)
    for _ in range(2):  # A session may be added several times.
        await memory.add_session_to_memory(session)
    found = await memory.search_memory(**MARA, query="which port is staging on?")
    assert texts(found)[0] == "Staging moved to port 5434."
    assert (found.memories[0].author, len(found.memories)) == ("user", 2)
    assert found.memories[0].timestamp.startswith("20")
    for other in ({**MARA, "user_id": "ben"}, {**MARA, "app_name": "atlas"}):
        assert texts(await memory.search_memory(**other, query="port of staging")) == []
    assert texts(await memory.search_memory(**MARA, query="  ")) == []
    # Later events are added, and the session is not repeated.
    await sessions.append_event(session, event("Ben is on call."))
    await memory.add_session_to_memory(session)
    listed = (await async_htm.namespaces.list(prefix=namespace)).namespaces
    assert len(listed) == 1
    assert len((await async_htm.memories.list(namespace=listed[0])).memories) == 3


async def test_a_time_of_the_framework_has_no_zone(async_htm, namespace):
    memory = HtmMemoryService(async_htm, namespace=namespace)
    content = types.Content(role="user", parts=[types.Part(text="Staging moved to port 5434.")])
    for timestamp in ("2026-03-01T12:00:00.5", "2026-03-01T12:00:00Z", "some day"):
        await memory.add_memory(**MARA, memories=[MemoryEntry(content=content, timestamp=timestamp)])
    found = await memory.search_memory(**MARA, query="x" * 40_000 + " port")
    assert len(found.memories) == 3


async def test_what_is_deleted_stays_so(async_htm, namespace):
    memory = HtmMemoryService(async_htm, namespace=namespace)
    events = [event("Staging moved to port 5434."), event("Mara prefers tabs.")]
    await memory.add_events_to_memory(**MARA, events=events, session_id="s")
    found = await memory.search_memory(**MARA, query="port of staging")
    entry = found.memories[0]
    await memory.delete_memory(app_name="atlas/1", user_id="ben", memory_id=entry.id)
    assert entry.content.parts[0].text in texts(await memory.search_memory(**MARA, query="port of staging"))
    for gone in (entry.id, entry.id, "none", str(10**12), str(10**30), "-1"):
        await memory.delete_memory(**MARA, memory_id=gone)
    await memory.add_events_to_memory(**MARA, events=events, session_id="s")
    assert texts(await memory.search_memory(**MARA, query="port of staging")) == ["Mara prefers tabs."]


@pytest.mark.parametrize("session", ["a\nb", "s" * 511])
async def test_events_of_a_session_that_makes_no_key_are_added_once(async_htm, namespace, session):
    memory = HtmMemoryService(async_htm, namespace=namespace)
    events = [event("Staging moved to port 5434."), event("Mara prefers tabs.")]
    for _ in range(2):
        await memory.add_events_to_memory(**MARA, events=events, session_id=session)
        await memory.add_memory(**MARA, memories=[MemoryEntry(content=events[0].content, id=session)])
    assert len((await memory.search_memory(**MARA, query="port of staging")).memories) == 3


@pytest.mark.parametrize("session", ["a\u200db", "a\u00a0b\u3000", "s" * 509])
async def test_the_key_of_an_event_is_its_place_if_htm_takes_it(async_htm, namespace, session):
    memory = HtmMemoryService(async_htm, namespace=namespace)
    await memory.add_events_to_memory(**MARA, events=[event("Mara prefers tabs.", id="e1")], session_id=session)
    [stored] = (await async_htm.memories.list(namespace=memory._of(*MARA.values()))).memories
    assert stored.key == f"{session}/e1"


class Deleted:
    """A server whose deleted memories are more than a usual page."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.added: list[str | None] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url.path)
        if request.url.path == "/v1/memories/batch":
            self.added += [it.get("key") for it in json.loads(request.content)["memories"]]
            return httpx.Response(200, json={"results": []})
        first = int(request.url.params.get("cursor", 0))
        end = min(first + int(request.url.params.get("limit", 20)), 1_000)
        next = None if end == 1_000 else str(end)
        return httpx.Response(200, json={"memories": [self.memory(at) for at in range(first, end)], "next": next})

    @staticmethod
    def memory(at: int) -> dict[str, object]:
        time = "2026-03-01T12:00:00Z"
        made = {"namespace": "n", "node": at, "key": f"memory/{at}", "excerpt": "x", "deleted_at": time}
        return {**made, "reason": "asked", "robot": "r", "type": None}


async def test_deleted_memories_are_read_once_if_they_matter():
    server = Deleted()
    content = types.Content(role="user", parts=[types.Part(text="Mara prefers tabs.")])
    async with httpx.AsyncClient(transport=httpx.MockTransport(server)) as http:
        memory = HtmMemoryService(AsyncHtm("http://here", http=http))
        await memory.add_events_to_memory(**MARA, events=[event(" ")])
        await memory.add_memory(**MARA, memories=[])
        assert server.asked == []
        await memory.add_memory(**MARA, memories=[MemoryEntry(content=content)])
        assert server.asked == ["/v1/memories/batch"]
        server.asked.clear()
        given = [MemoryEntry(content=content, id=it) for it in ("999", "1000")]
        await memory.add_memory(**MARA, memories=given)
        assert server.asked == ["/v1/memories/forgotten", "/v1/memories/batch"]
    assert server.added == [None, "memory/1000"]


async def test_memories_come_back_with_all_that_they_had(async_htm, namespace):
    memory = HtmMemoryService(async_htm, namespace=namespace)
    parts = [types.Part(text="A chart:"), types.Part(inline_data=types.Blob(mime_type="image/png", data=b"\0\1"))]
    entry = MemoryEntry(
        content=types.Content(role="model", parts=parts),
        custom_metadata={"source": {"page": 3}},
        id="chart",
        author="ada",
        timestamp="2026-03-01T12:00:00+00:00",
    )
    for _ in range(2):
        await memory.add_memory(**MARA, memories=[entry], custom_metadata={"lang": "en"})
    (found,) = (await memory.search_memory(**MARA, query="chart")).memories
    assert found.content == entry.content
    assert found.custom_metadata == {"source": {"page": 3}, "lang": "en"}
    assert (found.author, found.timestamp) == ("ada", "2026-03-01T12:00:00+00:00")
    large = MemoryEntry(content=types.Content(parts=[types.Part(text="x" * (2 << 20))]))
    with pytest.raises(errors.ContentTooLarge):
        await memory.add_memory(**MARA, memories=[large])


def test_the_example_runs(url):
    root = Path(__file__).parent.parent.parent
    example = root / "examples" / "google_adk_memory.py"
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, example], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout == "user: Staging moved to port 5434.\n", done.stderr
