"""Clients in forked processes: each process reads its own answers."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable

import pytest

from htm_memory import AsyncHtm

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


def test_a_closed_client_stays_closed_after_a_fork(htm):
    htm.jobs.queues()
    htm.close()

    def work() -> None:
        with pytest.raises(RuntimeError, match="closed"):
            htm.jobs.queues()

    assert are_done([forked(work)])


def test_an_asynchronous_client_leaves_its_loops_and_its_lock(url):
    htm = AsyncHtm(url)
    asyncio.run(htm.jobs.queues())
    held, released = threading.Event(), threading.Event()

    def hold() -> None:
        with htm._lock:
            held.set()
            released.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()

    def work() -> None:
        assert not htm._of_loops
        asyncio.run(htm.jobs.queues())

    child = forked(work)
    released.set()
    holder.join()
    assert are_done([child])
