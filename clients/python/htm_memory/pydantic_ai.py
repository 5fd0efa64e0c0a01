"""The memory of Pydantic AI's agents in HTM: `pip install htm-memory[pydantic-ai]`.

    agent = Agent(model, capabilities=[Memory(HtmMemoryStore(AsyncHtm()))])
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Any, Final

from pydantic_ai_harness.memory import (
    MemoryConflictError,
    MemoryFile,
    MemoryMutation,
    MemoryOperation,
    MemoryOperationConflictError,
)
from pydantic_ai_harness.memory._store import (
    decode_metadata,
    encode_metadata,
    validate_store_path,
    validate_store_prefix,
)

from ._generated import models
from .client import AsyncHtm
from .errors import AnswerTooLarge, KeyTaken, NodeNotFound, RevisionConflict
from .pages import halved
from .robots import aact

# What a file or an operation is, in the metadata of its memory.
NOTE: Final = "pydantic_ai"

# A memory has a text that is not only space, and no NUL. Another text is in the metadata, which have at most 64 KiB.
BLANK: Final = "(blank)"
MAX_BLANK: Final = 32 << 10

# The time for which an operation is not done twice.
RECEIPT_SECONDS: Final = 30 * 86_400

PAGE: Final = 1_000


class HtmMemoryStore:
    """Files of agents' memories. Each is a memory of HTM: recall finds it by meaning, and what it replaced is kept.

    A write, the check of its version and the record of its operation commit together. The records are in the namespace
    `operations` below that of the files, for 30 days.

    Args:
        htm: The client.
        namespace: The namespace of the files.
        robot: The robot that remembers. Default: the server's.
    """

    def __init__(self, htm: AsyncHtm, *, namespace: str = "pydantic-ai", robot: str | None = None) -> None:
        self._htm, self._namespace, self._robot = htm, namespace, robot
        self._operations = f"{namespace}/operations"

    async def read(self, path: str, *, max_chars: int) -> MemoryFile | None:
        """The file at a path, with the first characters of its text."""
        validate_store_path(path)
        if max_chars <= 0:
            raise ValueError("max_chars must be positive")
        if not (node := await self._find(self._namespace, path)):
            return None
        note, text = node.metadata[NOTE], _text(node)
        return MemoryFile(
            content=text[:max_chars],
            version=note["version"],
            operation_id=note["operation"],
            truncated=len(text) > max_chars,
            metadata=decode_metadata(note["metadata"]),
        )

    async def get_operation(self, operation: MemoryOperation) -> MemoryMutation | None:
        """The result of an operation that was done before."""
        if not (node := await self._find(self._operations, operation.id)):
            return None
        note = node.metadata[NOTE]
        if note["fingerprint"] != operation.fingerprint:
            raise MemoryOperationConflictError(f"operation id {operation.id!r} was used with other arguments")
        return MemoryMutation(version=note["version"], replayed=True, existed=note["existed"])

    async def write(
        self, path: str, content: str, *, expected_version: str | None, operation: MemoryOperation | None = None
    ) -> MemoryMutation:
        """Creates or replaces a file, if it has the expected version."""
        return await self.write_with_metadata(
            path, content, expected_version=expected_version, metadata=None, operation=operation
        )

    async def write_with_metadata(
        self,
        path: str,
        content: str,
        *,
        expected_version: str | None,
        metadata: Mapping[str, str] | None,
        operation: MemoryOperation | None = None,
    ) -> MemoryMutation:
        """Creates or replaces a file, if it has the expected version, with what the writer says of the write."""
        validate_store_path(path)
        version = uuid.uuid4().hex
        note: dict[str, Any] = {
            "version": version,
            "operation": operation.id if operation else None,
            "metadata": encode_metadata(metadata),
        }
        if not content.strip() or "\0" in content:
            if len(content.encode()) > MAX_BLANK:
                raise ValueError(f"a text of white space or with NUL characters has at most {MAX_BLANK} bytes")
            # JSON in the database has no NUL.
            note["text"] = [ord(character) for character in content]
        memory = {
            "content": BLANK if "text" in note else content,
            "key": path,
            "session": path,
            "metadata": {NOTE: note},
            "namespace": self._namespace,
            "robot": self._robot,
        }
        return await self._mutate(path, expected_version, operation, version, [memory])

    async def delete(
        self, path: str, *, expected_version: str | None, operation: MemoryOperation | None = None
    ) -> MemoryMutation:
        """Forgets a file, if it has the expected version. It can be restored until it is purged."""
        validate_store_path(path)
        return await self._mutate(path, expected_version, operation, None, [])

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        """The first paths with a prefix, in their order. All files of the namespace are read."""
        validate_store_prefix(prefix)
        if limit <= 0:
            raise ValueError("limit must be positive")
        return sorted([path async for path in self._paths() if path.startswith(prefix)])[:limit]

    async def _mutate(
        self,
        path: str,
        expected: str | None,
        operation: MemoryOperation | None,
        version: str | None,
        memories: list[dict[str, Any]],
    ) -> MemoryMutation:
        if operation and (done := await self.get_operation(operation)):
            return done
        current = await self._find(self._namespace, path)
        if (current.metadata[NOTE]["version"] if current else None) == expected:
            place = {"namespace": self._namespace, "session": path, "expected": [current.id] if current else []}
            existed = current is not None
            receipts = [self._receipt(operation, version, existed)] if operation else []
            try:
                write = partial(self._htm.memories.create_many, [*memories, *receipts], replaces=[place])
                await aact(self._htm, self._robot, write)
                return MemoryMutation(version=version, replayed=False, existed=existed)
            except (KeyTaken, RevisionConflict):
                pass
        # Another call was first. It may have been the same operation.
        if operation and (done := await self.get_operation(operation)):
            return done
        raise MemoryConflictError(f"memory path {path!r} has another version than {expected!r}")

    def _receipt(self, operation: MemoryOperation, version: str | None, existed: bool) -> dict[str, Any]:
        note = {"fingerprint": operation.fingerprint, "version": version, "existed": existed}
        return {
            # With a part that is new, so that the receipts of two calls at once are not taken for the same.
            "content": f"operation {operation.id} {uuid.uuid4().hex}",
            "key": operation.id,
            "metadata": {NOTE: note},
            "ttl_seconds": RECEIPT_SECONDS,
            "namespace": self._operations,
            "robot": self._robot,
        }

    async def _find(self, namespace: str, key: str) -> models.Node | None:
        try:
            node = await self._htm.memories.get_by_key(key, namespace=namespace)
        except NodeNotFound:
            return None
        return node if NOTE in node.metadata else None

    async def _paths(self) -> AsyncIterator[str]:
        cursor, limit = None, PAGE
        while True:
            try:
                page = await self._htm.memories.list(namespace=self._namespace, cursor=cursor, limit=limit)
            except AnswerTooLarge as error:
                limit = halved(limit, error)
                continue
            for node in page.memories:
                if node.key and NOTE in node.metadata:
                    yield node.key
            if not (cursor := page.next):
                return


def _text(node: models.Node) -> str:
    blank = node.metadata[NOTE].get("text")
    return node.content if blank is None else "".join(map(chr, blank))
