"""The memory of Pydantic AI's agents, beside the harness's own in memory."""

import asyncio
import os
import random
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("pydantic_ai_harness")

from pydantic_ai_harness.memory import (
    InMemoryStore,
    MemoryConflictError,
    MemoryOperation,
    MemoryOperationConflictError,
    MemoryStore,
    MetadataMemoryStore,
)

from htm_memory.pydantic_ai import HtmMemoryStore

PATHS = ["main.md", "notes/a.md", "notes/b.md", "notes/deep/c.md"]
TEXTS = ["one", "one\ntwo\n", "", " ", "nul \0 and ß 📝", "x" * 5_000]


class Versions:
    """Versions of a store by the number of the write that made them."""

    def __init__(self):
        self.of, self.number = {None: None}, {None: None}

    def made(self, number, version):
        self.of.setdefault(number, version)
        self.number.setdefault(version, number)


def mutate(kind, path, expected, operation, text, metadata, store, versions):
    given = {"expected_version": versions.of[expected], "operation": operation}
    if kind == "delete":
        return store.delete(path, **given)
    if metadata is None:
        return store.write(path, text, **given)
    return store.write_with_metadata(path, text, metadata=metadata, **given)


async def outcome(store, versions, step, act):
    try:
        done = await act(store, versions)
    except (MemoryConflictError, MemoryOperationConflictError) as error:
        return type(error)
    if not done.replayed:
        versions.made(step, done.version)
    return versions.number[done.version], done.replayed, done.existed


async def read(store, versions, path):
    file = await store.read(path, max_chars=1_000)
    if not file:
        return None
    return file.content, versions.number[file.version], file.operation_id, file.truncated, file.metadata


async def test_it_is_the_store_that_they_have(async_htm, namespace):
    """Random operations, some of them repeated, with right and wrong versions."""
    stores = [(InMemoryStore(), Versions()), (HtmMemoryStore(async_htm, namespace=namespace), Versions())]
    assert isinstance(stores[1][0], MemoryStore) and isinstance(stores[1][0], MetadataMemoryStore)
    chance = random.Random(3)
    current = dict.fromkeys(PATHS)
    for step in range(250):
        path = chance.choice(PATHS)
        match chance.choices(["write", "delete", "read", "list"], [5, 2, 3, 1])[0]:
            case "write" | "delete" as kind:
                expected = current[path] if chance.random() < 0.7 else chance.choice([None, *current.values()])
                operation = None
                if chance.random() < 0.6:
                    operation = MemoryOperation(f"op-{chance.randint(0, 30)}", chance.choice(["a", "a", "b"]))
                text, metadata = chance.choice(TEXTS), chance.choice([None, {}, {"by": "ada"}])
                act = partial(mutate, kind, path, expected, operation, text, metadata)
                theirs, ours = [await outcome(store, versions, step, act) for store, versions in stores]
                assert ours == theirs, (step, kind, path)
                if isinstance(ours, tuple) and not ours[1]:
                    current[path] = ours[0]
            case "read":
                theirs, ours = [await read(store, versions, path) for store, versions in stores]
                assert ours == theirs, (step, path)
            case "list":
                prefix, limit = chance.choice(["", "notes/", "no", "notes/deep/"]), chance.choice([1, 2, 10])
                theirs, ours = [await store.list_paths(prefix, limit=limit) for store, _ in stores]
                assert ours == theirs, (step, prefix)


async def test_of_writers_at_once_one_wins_and_an_operation_is_done_once(async_htm, namespace):
    store = HtmMemoryStore(async_htm, namespace=namespace)
    for number in range(3):
        before = await store.read("main.md", max_chars=10)
        version = before.version if before else None
        writes = [store.write("main.md", f"{number}.{n}", expected_version=version) for n in range(6)]
        done = await asyncio.gather(*writes, return_exceptions=True)
        assert sorted(type(it).__name__ for it in done) == ["MemoryConflictError"] * 5 + ["MemoryMutation"]
    version = (await store.read("main.md", max_chars=10)).version
    operation = MemoryOperation("append", "fingerprint")
    again = [store.write("main.md", "appended", expected_version=version, operation=operation) for _ in range(6)]
    done = await asyncio.gather(*again)
    assert sorted(it.replayed for it in done) == [False] + [True] * 5
    assert len({it.version for it in done}) == 1
    assert (await store.get_operation(operation)).version == done[0].version
    with pytest.raises(MemoryOperationConflictError):
        await store.get_operation(MemoryOperation("append", "other"))
    # A new process knows it too.
    replayed = await HtmMemoryStore(async_htm, namespace=namespace).delete(
        "main.md", expected_version="any", operation=operation
    )
    assert (replayed.replayed, replayed.version) == (True, done[0].version)


async def test_files_are_found_by_recall_and_what_they_replaced_is_not(async_htm, namespace):
    store = HtmMemoryStore(async_htm, namespace=namespace)
    first = await store.write("main.md", "Staging listens on port 5433.", expected_version=None)
    await store.write("main.md", "Staging listens on port 5434.", expected_version=first.version)
    found = await async_htm.recall.recall(query="port of staging", filter={"namespaces": [namespace]})
    assert [hit.content for hit in found.hits] == ["Staging listens on port 5434."]
    with pytest.raises(ValueError):
        await store.read("../secrets", max_chars=10)


async def test_a_key_of_a_robot_writes(async_htm_of_robot, namespace):
    store = HtmMemoryStore(async_htm_of_robot, namespace=namespace)
    first = await store.write("main.md", "one", expected_version=None, operation=MemoryOperation("o", "f"))
    second = await store.write("main.md", "two", expected_version=first.version)
    await store.delete("main.md", expected_version=second.version)
    assert await store.list_paths(limit=1) == []


def test_the_example_runs(url):
    root = Path(__file__).parent.parent.parent
    example = root / "examples" / "pydantic_ai_memory.py"
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, example], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "recalled: Mara prefers tabs.", done.stderr
