"""A memory block of LlamaIndex in HTM: `pip install htm-memory[llama-index]`.

    memory = Memory.from_defaults(session_id="standup", memory_blocks=[HtmMemoryBlock(htm=AsyncHtm())])
"""

from __future__ import annotations

from typing import Any, Final

from llama_index.core.base.llms.types import ChatMessage, TextBlock
from llama_index.core.bridge.pydantic import Field
from llama_index.core.memory import BaseMemoryBlock

from .client import AsyncHtm
from .messages import query_of, remember_all, said

# Of English text, about.
BYTES_PER_TOKEN: Final = 4


class HtmMemoryBlock(BaseMemoryBlock[str]):
    """What left the short-term memory is remembered; what fits the latest messages is recalled.

    Each message is a memory with its session, its speaker and its text. Other sessions of the namespace recall it too.
    """

    name: str = Field(default="htm", description="The name of the block in the prompt.")
    htm: AsyncHtm = Field(description="The client.", exclude=True)
    namespace: str | None = Field(default=None, description="The namespace. Default: the server's.")
    robot: str | None = Field(default=None, description="The robot that remembers. Default: the server's.")
    limit: int = Field(default=5, ge=1, le=10_000, description="The most memories recalled.")
    query_messages: int = Field(default=3, ge=1, description="The number of latest messages that are the query.")
    own_session: bool = Field(default=False, description="Whether only the session's own memories are recalled.")

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """The memories that fit the latest messages, the best first, a line each."""
        query = "\n".join(text for it in (messages or [])[-self.query_messages :] if (text := _text(it)))
        session = block_kwargs.get("session_id") if self.own_session else None
        if not query or (self.own_session and not session):
            return ""
        filter = {"namespaces": [self.namespace] if self.namespace else [], "session": session}
        found = await self.htm.recall.recall(query=query_of(query), filter=filter, limit=self.limit)
        return "\n".join(f"{hit.speaker}: {hit.content}" if hit.speaker else hit.content for hit in found.hits)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Remembers the messages that have a text: all of them, or none."""
        memories = [self._memory(at, it, text) for at, it in enumerate(messages) if (text := _text(it))]
        await remember_all(self.htm, memories, namespace=self.namespace, robot=self.robot)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Leaves out the least relevant memories, whole lines, until that many tokens are gone."""
        # The framework gives an empty list if nothing was recalled.
        if not content:
            return None
        lines = content.split("\n")
        gone = 0
        while lines and gone < tokens_to_truncate:
            # The tokenizer is the memory's, which is not known here.
            gone += max(1, len(lines.pop().encode()) // BYTES_PER_TOKEN)
        return "\n".join(lines) or None

    def _memory(self, seq: int, message: ChatMessage, text: str) -> dict[str, Any]:
        return {
            "content": text,
            # The framework puts its session there.
            "session": message.additional_kwargs.get("session_id"),
            # The time is that of the commit, the same for all of them.
            "seq": seq,
            "speaker": message.role.value,
        }


def _text(message: ChatMessage) -> str:
    """What is said in a message, if it is more than space."""
    return said("\n".join(it.text for it in message.blocks if isinstance(it, TextBlock)))
