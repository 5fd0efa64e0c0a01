"""What does not fit into one answer, and namespaces that do not fit into one question."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from ._generated import models
from .errors import HtmError

# The most namespaces of a question.
NAMESPACES: Final = 10_000


def chunks(namespaces: list[str]) -> Iterator[list[str]]:
    """The namespaces, as many at a time as a question may name."""
    for first in range(0, len(namespaces), NAMESPACES):
        yield namespaces[first : first + NAMESPACES]


def halved(limit: int, error: HtmError) -> int:
    """The limit after an answer that was too large."""
    if limit == 1:
        raise error
    return limit // 2


def recency(node: models.Node) -> tuple[datetime, bool, int, int]:
    """The place of a memory in the order by which the server chooses the latest."""
    return node.created_at, node.seq is None, node.seq or 0, node.id


class Newest:
    """The memories of a filter, the newest first: what to ask for next, and what of an answer is new.

    Args:
        filter: The filter.
        limit: The number of memories of the first page.
        usual: The most memories of a page.
        most: The most memories of an answer, read where more than a page are of one time.
    """

    def __init__(self, filter: dict[str, Any], limit: int, *, usual: int, most: int) -> None:
        self.asked: dict[str, Any] = {"filter": filter, "limit": limit}
        self.is_over = False
        self._usual, self._most = usual, most
        # The most memories of an answer to the current question.
        self._fitting = most
        self._seen: set[int] = set()
        self._oldest: datetime | None = None

    def shrink(self, error: HtmError) -> None:
        """Asks for fewer after an answer that was too large."""
        self._fitting = self.asked["limit"] - 1
        self._usual = self.asked["limit"] = halved(self.asked["limit"], error)

    def take(self, entries: list[models.TimelineEntry]) -> list[models.TimelineEntry]:
        """The memories of an answer that are new, the newest first."""
        limit = self.asked["limit"]
        new = sorted((it for it in entries if it.id not in self._seen), key=recency, reverse=True)
        self._seen.update(it.id for it in new)
        if len(entries) < limit:
            self.is_over = True
            return new
        oldest = entries[0].created_at
        if oldest != self._oldest:
            self._oldest, self._fitting = oldest, self._most
            next_limit = min(4 * limit, self._usual)
        else:
            next_limit = min(4 * limit, self._fitting)
            if not new and next_limit <= limit:
                raise OverflowError(f"the memories of {oldest} do not fit into an answer")
        # The oldest time goes in again: several memories may have it.
        timeframe = f"..{(oldest + timedelta(microseconds=1)).isoformat()}"
        self.asked = {"filter": {**self.asked["filter"], "timeframe": timeframe}, "limit": next_limit}
        return new
