"""The memory of Google's Agent Development Kit in HTM: `pip install htm-memory[google-adk]`.

    runner = Runner(agent=agent, memory_service=HtmMemoryService(AsyncHtm()), …)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, Final
from unicodedata import category
from urllib.parse import quote

from google.adk.events import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import Session
from google.genai import types

from ._generated import models
from .client import AsyncHtm
from .errors import NodeNotFound, PathInvalid
from .messages import MOST, forget, query_of, remember_all, said
from .values import hash_of

# The content of an event beside its text, so that it comes back with all its parts.
CONTENT: Final = "google_adk_content"
CUSTOM: Final = "google_adk_metadata"

# A key of HTM has at most 512 bytes, and neither control characters nor halves of pairs of surrogates.
MAX_KEY: Final = 512
NO_TEXT: Final = ("Cc", "Cs")

# The metadata of a memory have at most 64 KiB. Of a larger content only the text comes back.
MAX_CONTENT: Final = 32 << 10


class HtmMemoryService(BaseMemoryService):
    """The memories of users, found by meaning and by words.

    Each event is a memory, with its session, its author and its time. Adding a session again adds what is new in it. A
    deleted memory is not added again until it is purged.

    Args:
        htm: The client.
        namespace: The namespace above those of the applications and their users.
        robot: The robot that remembers. Default: the server's.
        limit: The most memories that a search finds.
    """

    def __init__(
        self, htm: AsyncHtm, *, namespace: str = "google-adk", robot: str | None = None, limit: int = 10
    ) -> None:
        self._htm, self._namespace, self._robot, self._limit = htm, namespace, robot, limit

    async def add_session_to_memory(self, session: Session) -> None:
        """Adds the events of a session that are not there yet."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Adds events that are not there yet."""
        memories = []
        for event in events:
            if text := _text(event.content):
                memory = _memory(event.content, text, custom_metadata)
                # An event has one place, so that it is not remembered twice.
                memory["key"] = _key(f"{session_id or ''}/{event.id}")
                memory["session"] = session_id
                memory["speaker"] = event.author
                memory["created_at"] = datetime.fromtimestamp(event.timestamp, timezone.utc)
                memories.append(memory)
        await self._remember(app_name, user_id, memories)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Adds memories. One with an id is not added twice."""
        made = []
        for entry in memories:
            if text := _text(entry.content):
                memory = _memory(entry.content, text, {**entry.custom_metadata, **(custom_metadata or {})})
                memory["key"] = _key(f"memory/{entry.id}") if entry.id else None
                memory["speaker"] = entry.author
                memory["created_at"] = _time(entry.timestamp)
                made.append(memory)
        await self._remember(app_name, user_id, made)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Finds the memories of a user that fit a question best."""
        if not query.strip():
            return SearchMemoryResponse()
        place = {"namespaces": [self._of(app_name, user_id)]}
        found = await self._htm.recall.recall(query=query_of(query), filter=place, limit=self._limit)
        return SearchMemoryResponse(memories=[_entry(hit) for hit in found.hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forgets a memory of a user. It can be restored until it is purged."""
        if memory_id is None:
            raise ValueError("memory_id is missing")
        namespace = self._of(app_name, user_id)
        try:
            node = int(memory_id)
            if (await self._htm.memories.get(node)).namespace != namespace:
                return
            await forget(self._htm, node, namespace=namespace, robot=self._robot)
        except (ValueError, NodeNotFound, PathInvalid):
            return  # There is no such memory, or no memory can have the id.

    def _of(self, app_name: str, user_id: str) -> str:
        """The namespace of a user."""
        return "/".join([self._namespace, *(quote(label, safe=" !#$&'()*+,:;=?@[]") for label in (app_name, user_id))])

    async def _remember(self, app_name: str, user_id: str, memories: list[dict[str, Any]]) -> None:
        if not memories:
            return
        namespace = self._of(app_name, user_id)
        deleted = await self._deleted(namespace) if any(memory["key"] for memory in memories) else set()
        new = [memory for memory in memories if memory["key"] not in deleted]
        # An event that was given again with another text stays what it was.
        await remember_all(self._htm, new, namespace=namespace, robot=self._robot, but={"key_taken"})

    async def _deleted(self, namespace: str) -> set[str]:
        """The keys of the memories that were deleted and are not purged."""
        keys: set[str] = set()
        cursor = None
        while True:
            page = await self._htm.memories.forgotten(namespace=namespace, cursor=cursor, limit=MOST)
            keys |= {memory.key for memory in page.memories if memory.key}
            if not (cursor := page.next):
                return keys


def _key(key: str) -> str:
    """The key, or the hash of one that HTM refuses: it has no slash. Others stay as they were stored."""
    encoded = key.encode(errors="surrogatepass")
    is_key = len(encoded) <= MAX_KEY and not any(category(it) in NO_TEXT for it in key)
    return key if is_key else hash_of(encoded)


def _memory(content: types.Content | None, text: str, custom: Mapping[str, object] | None) -> dict[str, Any]:
    exact = content.model_dump_json(exclude_none=True) if content else ""
    return {
        "content": text,
        "metadata": {
            **({CONTENT: exact} if len(exact.encode()) <= MAX_CONTENT else {}),
            **({CUSTOM: dict(custom)} if custom else {}),
        },
    }


def _time(text: str | None) -> datetime | None:
    """A time as the framework writes it: without a zone it is of this machine. None: it cannot be read."""
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(timezone.utc) if text else None
    except ValueError:
        return None


def _text(content: types.Content | None) -> str:
    parts = (content.parts if content else None) or []
    return said("\n".join(part.text for part in parts if part.text and part.text.strip()))


def _entry(hit: models.Hit) -> MemoryEntry:
    exact = hit.metadata.get(CONTENT)
    plain = types.Content(role="user", parts=[types.Part(text=hit.content)])
    return MemoryEntry(
        content=types.Content.model_validate_json(exact) if exact else plain,
        custom_metadata=hit.metadata.get(CUSTOM) or {},
        id=str(hit.id),
        author=hit.speaker,
        timestamp=hit.created_at.isoformat(),
    )
