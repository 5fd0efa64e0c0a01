"""Memories in batches: all are remembered, or none."""

import asyncio
from types import SimpleNamespace

import pytest

from htm_memory import errors, models
from htm_memory.messages import BATCH, batches, kept, query_of, remember_all


class Memories:
    """Take one batch, and fail at the next. The first memory cannot be forgotten."""

    def __init__(self) -> None:
        self.there: list[int] = []
        self.is_asked, self.answers = asyncio.Event(), asyncio.Event()
        self.is_undone, self.forgets = asyncio.Event(), asyncio.Event()

    async def create_many(self, memories):
        if self.there:
            self.is_asked.set()
            await self.answers.wait()
            raise errors.Unreachable("the server is gone")
        self.there = list(range(len(memories)))
        written = [models.Written.model_construct(node=node, outcome="written") for node in self.there]
        return SimpleNamespace(results=written)

    async def forget(self, node, **_):
        self.is_undone.set()
        await self.forgets.wait()
        if node == 0:
            raise errors.HtmError("role_insufficient", "the robot may not forget it")
        self.there.remove(node)

    async def take(self) -> None:
        memories = [{"content": f"{n}"} for n in range(BATCH + 1)]
        await remember_all(SimpleNamespace(memories=self), memories, namespace=None, robot="ada")

    async def all_but_the_first_are_gone(self) -> None:
        while self.there != [0]:
            await asyncio.sleep(0)


def test_half_of_an_emoji_is_replaced_in_texts():
    assert query_of("half \ud83d") == "half ?"
    assert kept("m", '"half \\ud83d"', "half \ud83d") == {"content": "half ?", "metadata": {"m": '"half \\ud83d"'}}
    memory = {"content": "one", "session": "\ud83d"}
    assert list(batches([memory])) == [[memory]]


async def test_a_memory_that_cannot_be_forgotten_keeps_no_other_and_hides_no_error():
    memories = Memories()
    memories.answers.set()
    memories.forgets.set()
    with pytest.raises(errors.Unreachable):
        await memories.take()
    assert memories.there == [0]


async def test_a_task_that_is_cancelled_leaves_nothing():
    memories = Memories()
    memories.forgets.set()
    task = asyncio.create_task(memories.take())
    await memories.is_asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert memories.there == [0]


async def test_a_task_that_is_cancelled_again_leaves_nothing():
    memories = Memories()
    task = asyncio.create_task(memories.take())
    await memories.is_asked.wait()
    task.cancel()
    await memories.is_undone.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    memories.forgets.set()
    await asyncio.wait_for(memories.all_but_the_first_are_gone(), 60)


async def test_a_key_of_a_robot_leaves_nothing(async_htm_of_robot, namespace):
    memories = [{"content": "one", "key": "k"}, {"content": "two", "key": "k"}]
    with pytest.raises(errors.KeyTaken):
        await remember_all(async_htm_of_robot, memories, namespace=namespace, robot=None)
    assert (await async_htm_of_robot.memories.list(namespace=namespace)).memories == []
