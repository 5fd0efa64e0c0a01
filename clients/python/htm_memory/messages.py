"""What the memories of conversations share: messages that come back as they were given, and writes in batches."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, Final

from ._generated import models
from .client import AsyncHtm
from .errors import of_problem

# The most memories of a batch, and entries of a timeline.
BATCH: Final = 1_000
MOST: Final = 10_000

# The metadata of a memory have at most 64 KiB.
MAX_EXACT: Final = 48 << 10


def kept(name: str, exact: str, text: str) -> dict[str, Any]:
    """The text of a message, with the message itself in the metadata. The text of a larger one is the message."""
    is_small = len(exact.encode()) <= MAX_EXACT
    text = said(text) if is_small else ""
    return {"content": text or exact, "metadata": {name: exact if is_small else None}}


def given(name: str, memory: models.TimelineEntry) -> str:
    """The message that a memory was made of."""
    exact = memory.metadata.get(name)
    return memory.content if exact is None else str(exact)


def said(text: str) -> str:
    """A text as a memory may have it; empty if it is only space."""
    text = text.replace("\0", "")
    return text if text.strip() else ""


async def remember_all(
    htm: AsyncHtm,
    memories: Sequence[dict[str, Any]],
    *,
    namespace: str | None,
    robot: str | None,
    but: Container[str] = (),
) -> None:
    """Remembers memories: all, or none. Those whose problem has one of the codes `but` are left out."""
    added: list[int] = []
    for first in range(0, len(memories), BATCH):
        batch = [{**it, "namespace": namespace, "robot": robot} for it in memories[first : first + BATCH]]
        results = (await htm.memories.create_many(batch)).results
        # A memory that was there stays.
        added += [it.node for it in results if isinstance(it, models.Written) and it.outcome == "written"]
        problems = [it for it in results if isinstance(it, models.Problem) and it.code not in but]
        if problems:
            for node in added:
                await forget(htm, node, namespace=namespace, robot=robot)
            raise of_problem(problems[0].model_dump(), problems[0].status, None)


async def forget(htm: AsyncHtm, node: int, *, namespace: str | None, robot: str | None) -> None:
    """Forgets a memory, as the robot or, without one, as any."""
    await htm.memories.forget(node, namespace=namespace, robot=robot, any_robot=robot is None, confirm=True)
