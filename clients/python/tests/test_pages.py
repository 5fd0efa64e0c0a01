"""What does not fit into one answer is read page by page."""

from datetime import datetime, timedelta, timezone
from types import SimpleNamespace

import pytest

from htm_memory import errors, models
from htm_memory.messages import latest
from htm_memory.pages import Newest

BEGIN = datetime(2026, 3, 1, tzinfo=timezone.utc)

TOO_LARGE = errors.of_problem({"code": "answer_too_large"}, 422, None)


class Timeline:
    """Memories of which an answer has room for some."""

    def __init__(self, times: list[int], room: int) -> None:
        self.room, self.refused = room, 0
        self.memories = [
            models.TimelineEntry.model_construct(
                id=100 - n, seq=n, created_at=BEGIN + timedelta(seconds=time), metadata={"message": ""}
            )
            for n, time in enumerate(times)
        ]

    async def timeline(self, *, filter, limit):
        before = datetime.fromisoformat(filter.get("timeframe", "..9999-01-01T00:00:00+00:00")[2:])
        entries = [it for it in self.memories if it.created_at < before][-limit:]
        if len(entries) > self.room:
            self.refused += 1
            raise TOO_LARGE
        return SimpleNamespace(entries=entries)


async def test_messages_that_are_too_large_for_an_answer_are_all_there():
    # Several are of one time, in the order of their places, not of their numbers.
    times = [0, 1, 1, 1, 2, 3, 4, 4, 5, 6, 6, 7]
    for limit in (1, 5, 10_000):
        timeline = Timeline(times, room=4)
        found = await latest(SimpleNamespace(recall=timeline), "message", {}, limit)
        assert [it.seq for it in found] == list(range(12))[-limit:]
        assert (timeline.refused > 0) == (limit > 4)


async def test_a_time_of_which_more_are_than_an_answer_has_is_an_error():
    with pytest.raises(OverflowError):
        await latest(SimpleNamespace(recall=Timeline([0, 1, 1, 1, 1, 1, 2], room=4)), "message", {}, 10)


def test_an_answer_of_one_memory_that_is_too_large_is_an_error():
    pages = Newest({}, 2, usual=2, most=2)
    pages.shrink(TOO_LARGE)
    with pytest.raises(errors.AnswerTooLarge):
        pages.shrink(TOO_LARGE)
