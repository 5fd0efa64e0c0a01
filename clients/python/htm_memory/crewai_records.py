"""Records of CrewAI as memories of HTM, and the conditions on them."""

from __future__ import annotations

import json
import math
import re
import struct
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Final, TypeAlias
from urllib.parse import quote, unquote

from crewai.memory.types import MemoryRecord

from ._generated import models
from .values import fields_of, is_plain, json_of, key_of, text_of

# The type of the memories of records.
TYPE: Final = "crewai_record"

# What a record is, and when it was last recalled, in the metadata of its memory. The time alone is edited often.
NOTE: Final = "crewai"
ACCESSED: Final = "crewai_last_accessed"

# HTM has no text of white space only.
BLANK: Final = "(blank)"

# Embedders round, so the length of their vectors is not exactly 1.
ROUNDED: Final = 1e-3

# What a label of a namespace cannot have, and `%`, with which it is written.
UNSAFE: Final = re.compile(r"[%\x00-\x1f\x7f-\x9f\ud800-\udfff]|^\s+$")

Vector: TypeAlias = "Sequence[float]"


def memory_of(record: MemoryRecord, root: str, robot: str | None) -> dict[str, Any]:
    """The memory of a record."""
    key, content = key_of(record.id), text_of(record.content)
    content = content if content.strip() else BLANK
    exact = record.model_dump(exclude={"last_accessed"})
    if content == record.content:
        del exact["content"]
    note: dict[str, Any] = {
        "record": json_of({**exact, "created_at": record.created_at.isoformat()}),
        "categories": [name for name in record.categories if is_plain(name)],
        "fields": fields_of(record.metadata),
    }
    vectors = {}
    if record.embedding is not None:
        # 32 bits a number, as in CrewAI's own storage. HTM compares vectors, and does not return them.
        note["embedding"] = b64encode(struct.pack(f"<{len(record.embedding)}f", *record.embedding)).decode()
    if record.embedding and any(record.embedding):
        note["is_unit"] = abs(math.hypot(*record.embedding) - 1) < ROUNDED
        vectors[label_of(record.embedding)] = scaled(record.embedding)
    return {
        "content": content,
        "key": key,
        "session": key,
        "type": TYPE,
        "metadata": {NOTE: note, ACCESSED: record.last_accessed.isoformat()},
        "importance": 1 + 9 * record.importance,
        "created_at": utc(record.created_at).isoformat(),
        "source": record.source if record.source and is_plain(record.source) else None,
        "namespace": namespace_of(root, record.scope),
        "robot": robot,
        "vectors": vectors,
    }


def record_of(node: models.Node) -> MemoryRecord:
    """The record of a memory."""
    note = node.metadata[NOTE]
    embedding = None
    if (text := note.get("embedding")) is not None:
        packed = b64decode(text)
        embedding = list(struct.unpack(f"<{len(packed) // 4}f", packed))
    exact = {"content": node.content, **json.loads(note["record"])}
    return MemoryRecord(**exact, last_accessed=node.metadata[ACCESSED], embedding=embedding)


@dataclass(frozen=True)
class Wanted:
    """Conditions on records: any of the categories, and all of the metadata."""

    categories: list[str] | None = None
    metadata: dict[str, Any] | None = None

    def has(self, record: MemoryRecord) -> bool:
        """Whether a record meets them."""
        if self.categories and not any(name in record.categories for name in self.categories):
            return False
        return all(record.metadata.get(name) == value for name, value in (self.metadata or {}).items())

    def notes(self) -> list[dict[str, Any]]:
        """What memories have to have in their metadata: one of these, as far as the server compares as Python does."""
        # In Python a missing value is None, and 1 is True.
        fields = {
            name: value
            for name, value in (self.metadata or {}).items()
            if is_plain(name) and is_plain(value) and value not in (None, 0, 1)
        }
        note = {"fields": fields} if fields else {}
        if self.categories and all(is_plain(name) for name in self.categories):
            return [{**note, "categories": [name]} for name in dict.fromkeys(self.categories)]
        return [note]


# Scopes and times.


def namespace_of(root: str, scope: str | None) -> str:
    """The namespace of a scope."""
    return "/".join([root, *(UNSAFE.sub(_written, name) for name in names_of(scope))])


def scope_of(root: str, namespace: str) -> list[str]:
    """The names of the scope of a namespace."""
    return [unquote(name, errors="surrogatepass") for name in names_of(namespace[len(root) :])]


def names_of(scope: str | None) -> list[str]:
    """The names of a scope: `/crew/research` has two."""
    return [name for name in (scope or "").split("/") if name]


def utc(time: datetime) -> datetime:
    """A time of CrewAI, which has no zone."""
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)


def _written(unsafe: re.Match[str]) -> str:
    return quote(unsafe[0], safe="", errors="surrogatepass")


# Vectors.


def label_of(vector: Vector) -> str:
    """The label of the model of a vector."""
    return f"caller/crewai-{len(vector)}"


def scaled(vector: Vector) -> list[float]:
    """The vector with the length 1: HTM finds by the angle, and has no large numbers."""
    length = math.hypot(*vector)
    return [float(number) / length for number in vector]


def least_distance(query: Vector, cosine: float, is_unit: bool) -> float:
    """The square of the least distance that a vector of length 1, or of any length, has with at most this cosine."""
    length = math.hypot(*query)
    return length**2 + 1 - 2 * length * cosine if is_unit else length**2 * (1 - max(cosine, 0) ** 2)
