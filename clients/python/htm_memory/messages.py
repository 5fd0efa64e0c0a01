"""What the memories of conversations share: messages that come back as they were given, and writes in batches."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

from ._generated import models
from .client import AsyncHtm
from .errors import AnswerTooLarge, of_problem
from .pages import Newest
from .robots import aact
from .values import text_of

# The most memories of a batch, and of an answer.
BATCH: Final = 1_000
MOST: Final = 10_000

# The most bytes of a batch, of the 16 MiB that a request may have, and of a query that is made of messages.
MAX_BATCH: Final = 8 << 20
MAX_QUERY: Final = 4_000

# The metadata of a memory have at most 64 KiB.
MAX_EXACT: Final = 48 << 10


def kept(name: str, exact: str, text: str) -> dict[str, Any]:
    """The text of a message, with the message itself in the metadata. The text of a larger one is the message."""
    is_small = len(exact.encode()) <= MAX_EXACT
    text = said(text) if is_small else ""
    return {"content": text or exact, "metadata": {name: exact if is_small else ""}}


def given(name: str, memory: models.TimelineEntry) -> str:
    """The message that a memory was made of."""
    return str(memory.metadata.get(name) or memory.content)


def query_of(text: str) -> str:
    """The end of a text, as a query: what was said last is asked about."""
    return text_of(text).encode()[-MAX_QUERY:].decode(errors="ignore")


def said(text: str) -> str:
    """A text as a memory may have it; empty if it is only space."""
    text = text_of(text)
    return text if text.strip() else ""


async def remember_all(
    htm: AsyncHtm,
    memories: Sequence[dict[str, Any]],
    *,
    namespace: str | None,
    robot: str | None,
    but: Container[str] = (),
) -> None:
    """Remembers memories: all, or none. Those whose problem has one of the codes `but` are left out.

    A batch whose answer does not come, after all retries or because the task is cancelled, may stay, and so do memories
    that the server refuses to forget. A task that is cancelled again does not wait until the others are forgotten.
    """
    added: list[int] = []
    try:
        for batch in batches({**it, "namespace": namespace, "robot": robot} for it in memories):
            results = (await htm.memories.create_many(batch)).results
            # A memory that was there stays.
            added += [it.node for it in results if isinstance(it, models.Written) and it.outcome == "written"]
            problems = [it for it in results if isinstance(it, models.Problem) and it.code not in but]
            if problems:
                raise of_problem(problems[0].model_dump(), problems[0].status, None)
    except (Exception, asyncio.CancelledError):
        await asyncio.shield(_forget_all(htm, added, namespace=namespace, robot=robot))
        raise


async def _forget_all(htm: AsyncHtm, nodes: list[int], *, namespace: str | None, robot: str | None) -> None:
    """Forgets memories, also those behind one that cannot be forgotten."""
    for node in nodes:
        with suppress(Exception):
            await forget(htm, node, namespace=namespace, robot=robot)


def batches(memories: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Batches of memories that a request can have."""
    batch: list[dict[str, Any]] = []
    size = 0
    for memory in memories:
        its = len(json.dumps(memory, ensure_ascii=False, default=str).encode(errors="surrogatepass"))
        if batch and (len(batch) == BATCH or size + its > MAX_BATCH):
            yield batch
            batch, size = [], 0
        batch.append(memory)
        size += its
    if batch:
        yield batch


async def latest(htm: AsyncHtm, name: str, place: dict[str, Any], limit: int) -> list[models.TimelineEntry]:
    """The latest messages of a session, the oldest first. Other memories of the session are left out."""
    own: list[models.TimelineEntry] = []
    pages = Newest(place, limit, usual=MOST, most=MOST)
    while len(own) < limit and not pages.is_over:
        try:
            entries = (await htm.recall.timeline(**pages.asked)).entries
        except AnswerTooLarge as error:
            pages.shrink(error)
        else:
            own += [it for it in pages.take(entries) if name in it.metadata]
    return own[:limit][::-1]


async def forget(htm: AsyncHtm, node: int, *, namespace: str | None, robot: str | None) -> None:
    """Forgets a memory as a robot. Without one, as the key's robot, or as any robot if the key has none."""
    await aact(htm, robot, partial(htm.memories.forget, node, namespace=namespace, confirm=True))
