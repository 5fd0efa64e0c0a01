"""Anthropic's memory tool with its files in HTM: `pip install htm-memory[anthropic]`.

    runner = anthropic.Anthropic().beta.messages.tool_runner(tools=[HtmMemoryTool(Htm(), "mara")], …)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from anthropic.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from ._generated import models
from .calls import Call
from .client import AsyncHtm, Htm
from .errors import AnswerTooLarge, HtmError
from .pages import halved
from .robots import aact, act

CLEARED = "All memory cleared"

ROOT = "/memories/"

PAGE = 1_000


@dataclass(frozen=True)
class _Place:
    """The files of a tool, and who writes."""

    namespace: str | None
    robot: str | None

    def call(self, command: str, body: dict[str, Any], **who: Any) -> Call[models.FileReply]:
        """A command as the language model gave it."""
        return Call(
            "POST",
            "/v1/files/{command}",
            models.FileReply,
            path={"command": command},
            query={"namespace": self.namespace, **({} if command == "view" else who)},
            body=body,
            takes_key=command != "view",
        )


class HtmMemoryTool(BetaAbstractMemoryTool):
    """The memory tool, with the files of a namespace.

    Each file is a memory: it has revisions, and recall finds it. The replies are those of the SDK's own tool.

    Args:
        htm: The client.
        namespace: The namespace of the files. Default: the server's.
        robot: The robot that writes. Default: the server's.
    """

    def __init__(self, htm: Htm, namespace: str | None = None, *, robot: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._htm, self._place = htm, _Place(namespace, robot)

    def _send(self, command: Any) -> str:
        try:
            return self._do(command.command, command.to_dict()).content
        except HtmError as error:
            raise ToolError(error.detail) from error

    def _do(self, command: str, body: dict[str, Any]) -> models.FileReply:
        call = partial(self._place.call, command, body)
        return act(self._htm, self._place.robot, lambda **who: self._htm.send(call(**who)))

    view = create = str_replace = insert = delete = rename = _send

    def clear_all_memory(self) -> str:
        cursor, limit = None, PAGE
        while True:
            try:
                page = self._htm.memories.list(namespace=self._place.namespace, cursor=cursor, limit=limit)
            except AnswerTooLarge as error:
                limit = halved(limit, error)
                continue
            for path in _paths(page):
                self._do("delete", {"path": path})
            if not (cursor := page.next):
                return CLEARED


class AsyncHtmMemoryTool(BetaAsyncAbstractMemoryTool):
    """As `HtmMemoryTool`, for asyncio."""

    def __init__(
        self, htm: AsyncHtm, namespace: str | None = None, *, robot: str | None = None, **options: Any
    ) -> None:
        super().__init__(**options)
        self._htm, self._place = htm, _Place(namespace, robot)

    async def _send(self, command: Any) -> str:
        try:
            return (await self._do(command.command, command.to_dict())).content
        except HtmError as error:
            raise ToolError(error.detail) from error

    async def _do(self, command: str, body: dict[str, Any]) -> models.FileReply:
        call = partial(self._place.call, command, body)
        return await aact(self._htm, self._place.robot, lambda **who: self._htm.send(call(**who)))

    view = create = str_replace = insert = delete = rename = _send

    async def clear_all_memory(self) -> str:
        cursor, limit = None, PAGE
        while True:
            try:
                page = await self._htm.memories.list(namespace=self._place.namespace, cursor=cursor, limit=limit)
            except AnswerTooLarge as error:
                limit = halved(limit, error)
                continue
            for path in _paths(page):
                await self._do("delete", {"path": path})
            if not (cursor := page.next):
                return CLEARED


def _paths(page: models.Page) -> Iterator[str]:
    for memory in page.memories:
        if memory.type == "file" and memory.key and memory.key.startswith(ROOT):
            yield memory.key
