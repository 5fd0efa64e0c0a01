"""Sessions of the OpenAI Agents SDK in HTM: `pip install htm-memory[openai-agents]`.

    result = await Runner.run(agent, "Which port is staging on?", session=HtmSession("standup", AsyncHtm()))
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from agents.items import TResponseInputItem
from agents.memory import SessionABC, SessionSettings
from agents.memory.session_settings import resolve_session_limit

from ._generated import models
from .client import AsyncHtm
from .errors import NodeNotFound
from .messages import BATCH, MOST, forget, given, kept, latest, remember_all
from .values import json_of

# An item beside its text: JSON in a string, so that it comes back as it was given.
ITEM: Final = "openai_agents_item"


class HtmSession(SessionABC):
    """The history of a conversation. Each item is a memory: recall finds it, and other robots do too.

    Args:
        session_id: The conversation.
        htm: The client.
        namespace: The namespace of the items. Default: the server's.
        robot: The robot that remembers. Default: the server's.
        session_settings: The default limit of `get_items`.
    """

    def __init__(
        self,
        session_id: str,
        htm: AsyncHtm,
        *,
        namespace: str | None = None,
        robot: str | None = None,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._htm, self._namespace, self._robot = htm, namespace, robot

    async def get_items(self, limit: int | None = None, *, wrapper: Any = None) -> list[TResponseInputItem]:
        """The latest items, the oldest first; all without a limit. A session has at most 10,000 items."""
        limit = resolve_session_limit(limit, self.session_settings)
        if limit is not None and limit <= 0:
            return []
        return [_item(entry) for entry in await self._latest(MOST if limit is None else min(limit, MOST))]

    async def add_items(self, items: list[TResponseInputItem], *, wrapper: Any = None) -> None:
        """Adds items at the end: all of them, or none. An item has at most 1 MiB."""
        memories = [self._memory(at, it) for at, it in enumerate(items)]
        await remember_all(self._htm, memories, namespace=self._namespace, robot=self._robot)

    async def pop_item(self, *, wrapper: Any = None) -> TResponseInputItem | None:
        """Forgets the latest item, and returns it. It can be restored."""
        while entries := await self._latest(1):
            try:
                await self._forget(entries[0].id)
            except NodeNotFound:
                continue  # Another call has it.
            return _item(entries[0])
        return None

    async def clear_session(self, *, wrapper: Any = None) -> None:
        """Forgets all items. They can be restored until they are purged."""
        while entries := await self._latest(BATCH):
            for entry in entries:
                try:
                    await self._forget(entry.id)
                except NodeNotFound:
                    pass

    async def _latest(self, limit: int) -> list[models.TimelineEntry]:
        place = {"session": self.session_id, "namespaces": [self._namespace] if self._namespace else []}
        return await latest(self._htm, ITEM, place, limit)

    async def _forget(self, node: int) -> None:
        await forget(self._htm, node, namespace=self._namespace, robot=self._robot)

    def _memory(self, seq: int, item: TResponseInputItem) -> dict[str, Any]:
        fields = cast(Mapping[str, Any], item)
        return {
            **kept(ITEM, json_of(fields), _text(fields)),
            "session": self.session_id,
            # The time is that of the commit, the same for all of them.
            "seq": seq,
            "speaker": fields.get("role") or fields.get("type"),
        }


def _item(memory: models.TimelineEntry) -> TResponseInputItem:
    return cast(TResponseInputItem, json.loads(given(ITEM, memory)))


def _text(item: Mapping[str, Any]) -> str:
    """What is said in a message."""
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str))
