"""Clients in forked processes: each process reads its own answers."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest

from htm_memory import AsyncHtm, Htm

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")


def forked(work: Callable[[], None]) -> int:
    """Does work in a forked process."""
    if process := os.fork():
        return process
    # A child that waits for ever ends.
    signal.alarm(60)
    try:
        work()
    except BaseException:
        os._exit(1)
    os._exit(0)


@contextmanager
def held(lock: threading.Lock) -> Iterator[None]:
    """Lets another thread hold a lock."""
    is_held, is_released = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            is_held.set()
            is_released.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    is_held.wait()
    try:
        yield
    finally:
        is_released.set()
        holder.join()


def are_done(processes: list[int]) -> bool:
    """Whether all of them did their work."""
    return [os.waitstatus_to_exitcode(os.waitpid(it, 0)[1]) for it in processes] == [0] * len(processes)


def test_forked_processes_read_their_own_answers(htm, namespace):
    texts = [f"memory {number}" for number in range(4)]
    nodes = [htm.memories.create(text, namespace=namespace).node for text in texts]

    def work(at: int) -> Callable[[], None]:
        def of_one() -> None:
            for number in range(20):
                assert htm.memories.get(nodes[at]).content == texts[at]
                text = f"{at} writes {number}"
                assert htm.memories.get(htm.memories.create(text, namespace=namespace).node).content == text

        return of_one

    children = [forked(work(at)) for at in range(1, 4)]
    work(0)()
    assert are_done(children)


@pytest.mark.parametrize("is_used", [True, False])
def test_a_closed_client_stays_closed_after_a_fork(url, is_used):
    htm = Htm(url)
    if is_used:
        htm.jobs.queues()
    htm.close()

    def work() -> None:
        with pytest.raises(RuntimeError, match="closed"):
            htm.jobs.queues()

    work()
    assert are_done([forked(work)])


def test_a_forked_process_connects_at_first_use_whatever_is_held(htm, monkeypatch):
    htm.jobs.queues()
    made: list[httpx.Client] = []

    class Noted(httpx.Client):
        def __init__(self, **given: object) -> None:
            made.append(self)
            super().__init__(**given)

    monkeypatch.setattr(httpx, "Client", Noted)

    def work() -> None:
        assert not made
        htm.jobs.queues()
        htm.jobs.queues()
        assert len(made) == 1

    with held(htm._lock):
        child = forked(work)
    assert are_done([child])


def test_an_asynchronous_client_leaves_its_loops_and_its_lock(url):
    htm = AsyncHtm(url)
    asyncio.run(htm.jobs.queues())

    def work() -> None:
        assert not htm._of_loops
        asyncio.run(htm.jobs.queues())

    with held(htm._lock):
        child = forked(work)
    assert are_done([child])
