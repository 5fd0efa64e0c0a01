"""The store of LangGraph, beside its own in memory and in PostgreSQL."""

import asyncio
import hashlib
import json
import math
import os
import random
import subprocess
import sys
import threading
import time
import uuid
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("langgraph.store.base")

from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from htm_memory import AsyncHtm, Htm, errors
from htm_memory.langgraph import HtmStore

DIMENSIONS = 16

# HTM keeps vectors as halves.
NEAR = 2e-3

WORDS = ["tabs", "spaces", "port", "staging", "ß📝", "night", "ledger", "mara", "yes"]


def embed(texts):
    """Deterministic vectors: the sum of those of the words."""
    return [
        [sum(part) for part in zip(*(vector(word) for word in text.split() or [""]), strict=True)] for text in texts
    ]


@cache
def vector(word):
    chance = random.Random(hashlib.sha256(word.encode(errors="surrogatepass")).digest())
    return [chance.gauss(0, 1) for _ in range(DIMENSIONS)]


def index(*fields):
    return {"dims": DIMENSIONS, "embed": embed, "fields": list(fields) or None}


@pytest.fixture
def made(url):
    """Makes stores with a root of their own."""
    root = f"test/{uuid.uuid4().hex}"
    with Htm(url) as htm:
        yield lambda *fields, **options: HtmStore(htm, root=root, index=index(*fields), **options)


@pytest.fixture
def store(made):
    return made("text")


@pytest.fixture
def postgres():
    """A store of LangGraph in a database of its own."""
    server = os.environ.get("HTM_POSTGRES_URL")
    if not server:
        pytest.skip("HTM_POSTGRES_URL names no PostgreSQL with pgvector")
    psycopg = pytest.importorskip("psycopg")
    from langgraph.store.postgres import PostgresStore

    name = f"langgraph_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"create database {name}")
        # By its index of vectors it finds fewer than there are.
        exact = {**index("text"), "ann_index_config": {"kind": "flat"}}
        parts = psycopg.conninfo.conninfo_to_dict(server)
        with PostgresStore.from_conn_string(
            psycopg.conninfo.make_conninfo(**{**parts, "dbname": name}), index=exact
        ) as made:
            made.setup()
            yield made
        admin.execute(f"drop database {name} with (force)")


def test_the_interface_validates_as_ever(store):
    for namespace in [(), ("a.b",), ("",), ("langgraph", "x")]:
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "k", {})
    with pytest.raises(ValueError, match="Unsupported operator"):
        store.put(("a",), "k", {"n": 1})
        store.search(("a",), filter={"n": {"$like": 1}})
    assert store.get(("nobody",), "k") is None
    assert store.search(("nobody",)) == [] == store.search(("nobody",), query="tabs")
    store.delete(("nobody",), "k")


# Operations at random.

NAMESPACES = [
    ("acme",),
    ("acme", "ada"),
    ("acme", "ada", "notes"),
    ("acme", "bo", "notes"),
    ("acme-corp",),
    ("a/b", "50%", "%2F"),
    ("*", "notes"),
    ("Zoë", " x "),
]
KEYS = ["k", "K", "a/b", "..", "%2F", "", "line\nbreak", "x" * 2_000, "ß📝", "nul\0", "\ud800"]


def some_value(chance):
    def text():
        return " ".join(chance.choices(WORDS, k=chance.randint(1, 4)))

    value = {"text": text(), "n": chance.choice([0, 1, 9, 10, 100, -1.5, 2**60, 0.1])}
    if chance.random() < 0.4:
        # InMemoryStore fails if an item has the same text twice.
        texts = {text() for _ in range(chance.randint(0, 3))} - {value["text"]}
        value["parts"] = [{"text": part} for part in sorted(texts)]
    if chance.random() < 0.3:
        value["kind"] = chance.choice(["note", "plan", None, True, {"of": [1, {"x": 2}]}, "nul \0 \ud800"])
    if chance.random() < 0.1:
        value["large"] = chance.choice(["z", '"\\', "ß"]) * 90_000
    if chance.random() < 0.1:
        del value["text"]
    return value


def some_filter(chance):
    bound = chance.choice([0, 1, 9, 9.5, 10, 2**60, 1.0])
    return chance.choice(
        [
            None,
            {"n": bound},
            {"n": {chance.choice(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]): bound}},
            {"n": {"$gt": 0, "$lte": 10}, "kind": "note"},
            {"kind": chance.choice(["note", "plan", None, {"of": [1, {"x": 2}]}, "nul \0 \ud800", {"$ne": "note"}])},
            {"text": chance.choice(WORDS)},
            {"large": "z" * 90_000},
        ]
    )


def some_search(chance):
    namespace = chance.choice(NAMESPACES)
    return SearchOp(
        namespace[: chance.randint(0, len(namespace))],
        filter=some_filter(chance),
        limit=chance.choice([1, 3, 10, 100]),
        offset=chance.choice([0, 0, 1, 5]),
        query=chance.choice([None, " ".join(chance.choices(WORDS, k=2))]),
    )


def some_listing(chance):
    conditions = [
        MatchCondition(
            chance.choice(["prefix", "suffix"]),
            tuple(
                label if chance.random() < 0.7 else "*" for label in chance.choice(NAMESPACES)[: chance.randint(1, 3)]
            ),
        )
        for _ in range(chance.randint(0, 2))
    ]
    return ListNamespacesOp(
        match_conditions=tuple(conditions) or None,
        max_depth=chance.choice([None, 1, 2, 5]),
        limit=chance.choice([2, 100]),
        offset=chance.choice([0, 1]),
    )


def as_json(item):
    return item and (item.namespace, item.key, json.dumps(item.value, sort_keys=True))


def ranked(query, item, fields, indexed):
    """The similarity of an item, by the best of its vectors; none without one."""
    texts = [text for path in (indexed or fields) for text in texts_at(item.value, path)]
    return max((cosine(*embed([query, text])) for text in texts), default=None)


def texts_at(value, path):
    from langgraph.store.base import get_text_at_path

    return get_text_at_path(value, path)


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b))


def check_page(op, page, everything):
    """Whether a page is one of what there is, in order of similarity, with those without a vector last."""
    assert len(page) == max(0, min(op.limit, len(everything) - op.offset))
    known = {(item.namespace, item.key): item for item in everything}
    assert len({(item.namespace, item.key) for item in page}) == len(page)
    for item in page:
        assert as_json(item) == as_json(known[item.namespace, item.key])
    if op.query:
        # Those of equal similarity may change places.
        wanted = [item.score for item in everything[op.offset : op.offset + op.limit]]
        for found, score, item in zip([item.score for item in page], wanted, page, strict=True):
            own = known[item.namespace, item.key].score
            assert (found is None) == (score is None) == (own is None)
            if found is not None:
                assert abs(found - score) < NEAR and abs(found - own) < NEAR


@pytest.mark.parametrize("seed", range(4))
async def test_it_is_the_store_that_they_have(made, url, seed):
    """Random operations, one by one and in batches, by two stores over the same items. InMemoryStore forgets the
    vectors of an item only with the item, so its items are deleted before they are put again."""
    fields = [("text",), ("text", "parts[*].text"), ("$",), ("parts[*].text", "n")][seed]
    theirs = InMemoryStore(index=index(*fields))
    chance = random.Random(seed)
    there = set()
    async with AsyncHtm(url) as async_htm:
        ours = [made(*fields), made(*fields, async_htm=async_htm)]
        for _ in range(300):
            store = chance.choice(ours)
            ops = [some_op(chance, there) for _ in range(chance.choice([1, 1, 1, 4]))]
            found = store.batch(ops) if chance.random() < 0.5 else await store.abatch(ops)
            for op, result in zip(ops, found, strict=True):
                match op:
                    case GetOp():
                        assert as_json(result) == as_json(theirs.batch([op])[0])
                    case SearchOp():
                        check_page(op, result, theirs.batch([op._replace(limit=10_000, offset=0)])[0])
                    case ListNamespacesOp():
                        everything = theirs.batch([op._replace(limit=10_000, offset=0, max_depth=None)])[0]
                        live = {it[: op.max_depth] for it in everything if it in {place[0] for place in there}}
                        assert result == sorted(live)[op.offset : op.offset + op.limit]
            puts = [op for op in ops if isinstance(op, PutOp)]
            for op in puts:
                theirs.batch([op._replace(value=None)])
                if op.value is not None:
                    theirs.batch([op])
                    there.add((op.namespace, op.key))
                else:
                    there.discard((op.namespace, op.key))
    assert there


def some_op(chance, there):
    namespace, key = chance.choice(NAMESPACES), chance.choice(KEYS)
    match chance.choices(["put", "delete", "get", "search", "list"], [4, 1, 2, 4, 1])[0]:
        case "put":
            indexed = chance.choice([None, None, None, False, ["n"], ["text", "kind"]])
            return PutOp(namespace, key, some_value(chance), indexed)
        case "delete":
            return PutOp(*chance.choice(sorted(there)), None) if there else PutOp(namespace, key, None)
        case "get":
            return GetOp(namespace, key)
        case "search":
            return some_search(chance)
        case _:
            return some_listing(chance)


def test_it_is_the_store_in_postgresql_where_that_is_right(store, postgres):
    """Random operations that PostgresStore answers as documented: one field, numbers of one digit, the first page."""
    chance = random.Random(11)
    for _ in range(600):
        namespace, key = chance.choice(NAMESPACES[:5]), chance.choice(["k", "K", "a/b", "ß📝"])
        match chance.choices(["put", "delete", "get", "search", "list"], [4, 1, 2, 4, 1])[0]:
            case "put":
                value = {
                    "text": " ".join(chance.choices(WORDS, k=2)),
                    "n": chance.randint(0, 9),
                    "x": [None, {"y": 0.5}],
                }
                ops = [PutOp(namespace, key, value)]
            case "delete":
                ops = [PutOp(namespace, key, None)]
            case "get":
                ops = [GetOp(namespace, key)]
            case "search":
                name = chance.choice(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"])
                query = chance.choice([None, chance.choice(WORDS)])
                conditions = chance.choice([None, {"n": {name: chance.randint(0, 9)}}])
                prefix = namespace[: chance.randint(0, 2)]
                ops = [SearchOp(prefix, filter=conditions, query=query, limit=50)]
            case _:
                # The order of theirs is that of a collation.
                ops = [some_listing(chance)._replace(limit=100, offset=0)]
        [ours], [theirs] = store.batch(ops), postgres.batch(ops)
        match ops[0]:
            case SearchOp() as op:
                theirs.sort(key=lambda item: -(item.score or 0))
                check_page(op, ours, theirs)
            case GetOp():
                assert as_json(ours) == as_json(theirs)
            case ListNamespacesOp():
                assert ours == sorted(theirs)


# What is wrong with PostgresStore 3.2.0.


def test_numbers_are_compared_as_numbers(store):
    for n in (9, 10, 9.5, 100, -3, 10**40, 2**53 + 1):
        store.put(("n",), str(n), {"n": n})
    store.put(("n",), "text", {"n": "99"})
    store.put(("n",), "none", {})

    def found(filter):
        return sorted(item.key for item in store.search(("n",), filter=filter, limit=50))

    whole = str(2**53 + 1)
    assert found({"n": {"$gt": 9}}) == sorted(["10", "9.5", "100", str(10**40), whole])
    assert found({"n": {"$lt": 10}}) == sorted(["9", "9.5", "-3"])
    assert found({"n": {"$gte": 9, "$lte": 10.0}}) == sorted(["9", "9.5", "10"])
    assert found({"n": 10.0}) == ["10"]
    assert found({"n": 2**53}) == []
    assert found({"n": {"$gt": "9"}}) == ["text"]
    assert found({"n": None}) == ["none"]


def test_pages_end_where_the_items_end(made):
    store = made("parts[*]")
    store.batch([PutOp(("p",), f"{n}", {"parts": [f"tabs {n}", f"port {n}", f"night {n}"]}) for n in range(120)])
    store.batch([PutOp(("p",), f"none-{n}", {}) for n in range(7)])
    for query in ("tabs", None):
        seen = []
        while page := store.search(("p",), query=query, limit=10, offset=len(seen)):
            seen += page
        assert len(seen) == 127 == len({item.key for item in seen})
        assert all(item.score is not None for item in seen[:120]) == (query is not None)
        assert all(item.score is None for item in seen[120:])


def test_there_is_no_last_page_for_the_server(store, monkeypatch):
    """More items than an answer of the server has."""
    monkeypatch.setattr("htm_memory.langgraph.MOST", 7)
    for n in range(40):
        store.put(("m", f"{n % 9}"), f"{n}", {"n": n})
    found = store.search(("m",), filter={"n": {"$gt": 3}}, limit=100)
    assert [item.value["n"] for item in found] == list(range(39, 3, -1))
    assert store.list_namespaces() == [("m", f"{n}") for n in range(9)]


def test_a_dropped_field_finds_nothing(made):
    store = made("title", "body")
    namespace = ("d",)

    def score(query):
        [item] = store.search(namespace, query=query)
        return item.score

    store.put(namespace, "k", {"title": "tabs", "body": "port"})
    assert score("tabs") > 1 - NEAR and score("port") > 1 - NEAR
    store.put(namespace, "k", {"title": "tabs"})
    assert score("port") < 0.9
    store.put(namespace, "k", {"title": "night", "body": "port"}, index=["body"])
    assert score("tabs") < 0.9 and score("night") < 0.9 and score("port") > 1 - NEAR
    store.put(namespace, "k", {"title": "tabs", "body": "port"}, index=False)
    assert score("port") is None
    store.delete(namespace, "k")
    assert store.search(namespace, query="port") == []


def test_the_embedder_holds_nobody_up(made):
    """While an embedder takes its time, others read and write, the same item too. What it embedded is found when `put`
    returns."""
    begun, may_end = threading.Event(), threading.Event()

    def slowly(texts):
        if "slow" in texts:
            begun.set()
            assert may_end.wait(60)
        return embed(texts)

    slow, store = made("text"), made("text")
    slow.embeddings.func = slowly
    writer = threading.Thread(target=lambda: slow.put(("s",), "k", {"text": "slow"}))
    writer.start()
    assert begun.wait(60)
    store.put(("s",), "k", {"text": "night"})
    assert [item.value["text"] for item in store.search(("s",), query="night")] == ["night"]
    may_end.set()
    writer.join()
    [item] = store.search(("s",), query="slow")
    assert item.value == {"text": "slow"} and item.score > 1 - NEAR


def test_a_search_of_few_among_many_is_whole(made):
    """Each of 60 users has the same number of items; a search of one of them finds as many as it asks for, the best."""
    store = made("text")
    users = 60
    texts = {(f"u{user}", f"{n}"): f"{user} {n} {WORDS[n % 9]}" for user in range(users) for n in range(40)}
    puts = [
        PutOp(("users", user), key, {"text": text, "even": int(key) % 2 == 0}) for (user, key), text in texts.items()
    ]
    for first in range(0, len(puts), 800):
        store.batch(puts[first : first + 800])
    for user in ("u0", "u31", "u59"):
        for filter in (None, {"even": True}):
            found = store.search(("users", user), query="staging port", filter=filter, limit=10)
            scores = sorted(
                (
                    cosine(*embed(["staging port", text]))
                    for (owner, key), text in texts.items()
                    if owner == user and (filter is None or int(key) % 2 == 0)
                ),
                reverse=True,
            )
            assert [item.namespace for item in found] == [("users", user)] * 10
            assert all(abs(item.score - score) < NEAR for item, score in zip(found, scores, strict=False))


# More.


def test_a_robot_changes_what_it_put(made):
    ours, theirs = made("text", robot="ada", model="of-ada"), made("text", robot="ben", model="of-ada")
    assert ours.search(("a",), query="tabs") == []
    ours.batch([PutOp((label,), "k", {"text": "tabs"}) for label in "abc"])
    ours.put(("a",), "k", {"text": "port"})
    with pytest.raises(errors.NotOwner):
        theirs.put(("a",), "k", {"text": "night"})
    assert [item.value["text"] for item in theirs.search(("a",), query="port")] == ["port"]


def test_namespaces_are_whole_labels(store):
    for namespace in (("acme",), ("acme-corp",), ("acme", "a"), ("acmes", "a")):
        store.put(namespace, "k", {"text": "tabs"})
    for query in (None, "tabs"):
        assert {item.namespace for item in store.search(("acme",), query=query)} == {("acme",), ("acme", "a")}
    assert store.list_namespaces(prefix=("acme",)) == [("acme",), ("acme", "a")]
    assert store.list_namespaces(suffix=("a",), max_depth=1) == [("acme",), ("acmes",)]
    store.delete(("acmes", "a"), "k")
    assert store.list_namespaces(prefix=("acmes",)) == []


async def test_no_put_is_half_done(url, made):
    """Puts of one item at the same time: one of them is there, with its vectors alone."""
    async with AsyncHtm(url) as async_htm:
        store = made("a", "b", async_htm=async_htm)
        values = [{"a": f"tabs {n}", "b": f"port {n}", "n": n} for n in range(12)]
        for _ in range(3):
            await asyncio.gather(*(store.aput(("c",), "k", value) for value in values))
            last = await store.aget(("c",), "k")
            for value in values:
                [found] = await store.asearch(("c",), query=value["b"])
                assert found.value == last.value
                assert (found.score > 1 - NEAR) == (value["n"] == last.value["n"])
        # An update keeps the time of creation.
        first = await store.aget(("c",), "k")
        await store.aput(("c",), "k", {"a": "tabs"})
        second = await store.aget(("c",), "k")
        assert second.created_at == first.created_at and second.updated_at > first.updated_at


def test_a_refused_item_changes_nothing(store):
    store.put(("r",), "k", {"text": "tabs"})
    large = {"text": "z" * (2 << 20)}
    with pytest.raises(errors.ContentTooLarge):
        store.batch([PutOp(("r",), "other", {"text": "port"}), PutOp(("r",), "k", large)])
    assert [item.value for item in store.search(("r",))] == [{"text": "tabs"}]


def test_times_to_live(made):
    store = made("a", "b", ttl={"default_ttl": 4 / 60, "refresh_on_read": False})
    namespace = ("t",)
    store.put(namespace, "read", {"a": "tabs", "b": "port"})
    store.put(namespace, "searched", {"a": "night", "b": "ledger"})
    store.put(namespace, "left", {"a": "mara", "b": "yes"})
    store.put(namespace, "stays", {"a": "spaces"}, ttl=None)
    end = time.monotonic() + 6
    while time.monotonic() < end:
        assert store.get(namespace, "read", refresh_ttl=True)
        [found] = store.search(namespace, query="ledger", limit=1, refresh_ttl=True)
        assert found.key == "searched" and found.score > 1 - NEAR
        time.sleep(0.2)
    assert store.get(namespace, "left") is None
    assert {item.key for item in store.search(namespace)} == {"read", "searched", "stays"}
    assert {item.key for item in store.search(namespace, query="yes")} == {"read", "searched", "stays"}
    [found] = store.search(namespace, query="port", limit=1)
    assert found.key == "read" and found.score > 1 - NEAR
    time.sleep(4.2)
    assert [item.key for item in store.search(namespace, query="port")] == ["stays"]


def test_a_key_of_a_robot_changes_what_it_put(htm_of_robot):
    root = f"test/{uuid.uuid4().hex}"
    store = HtmStore(htm_of_robot, root=root, index=index("text"))
    # In several namespaces at once, of which the robot of the server is in one.
    for text in ("tabs", "port"):
        store.batch([PutOp((label,), "k", {"text": text}) for label in "abc"])
    assert [item.value["text"] for item in store.search((), query="port")] == ["port"] * 3
    store.batch([PutOp((label,), "k", None) for label in "abc"])
    assert store.search(()) == []


async def test_a_read_leaves_the_times_to_live_of_others(htm_of_robot, async_htm_of_robot, htm_of_admin):
    root = f"test/{uuid.uuid4().hex}"
    made = {"root": root, "index": index("a", "b")}
    HtmStore(htm_of_admin, robot="ben", **made).put(("t",), "k", {"a": "tabs", "b": "port"}, ttl=60)
    store = HtmStore(htm_of_robot, async_htm_of_robot, **made)
    for found in (store.get(("t",), "k"), await store.aget(("t",), "k")):
        assert found.value == {"a": "tabs", "b": "port"}
    for found in (store.search(("t",), query="port"), await store.asearch(("t",), query="port")):
        assert [item.key for item in found] == ["k"]


@pytest.fixture
def narrow_store(narrow):
    """Makes stores with a root of their own, whose server answers and is asked little."""
    root = f"test/{uuid.uuid4().hex}"
    return lambda **limits: HtmStore(narrow(**limits), root=root, index=index("text"))


def test_answers_that_are_too_large_are_read_in_parts(narrow_store):
    store = narrow_store(limit=7)
    for n in range(30):
        store.put(("m", f"{n % 3}"), f"{n}", {"text": WORDS[n % 9], "n": n})
    assert [it.value["n"] for it in store.search(("m",), limit=40)] == list(range(29, -1, -1))
    # The nearest of which an answer has room come first.
    found = store.search(("m",), query="tabs", limit=40)
    assert sorted(it.value["n"] for it in found) == list(range(30))
    assert {it.value["text"] for it in found[:3]} == {"tabs"}
    assert [it.score is not None for it in found] == [True] * 5 + [False] * 25
    assert store._htm._http._transport.refused


def test_more_namespaces_than_a_question_may_name(narrow_store, monkeypatch):
    monkeypatch.setattr("htm_memory.pages.NAMESPACES", 4)
    store = narrow_store(namespaces=4)
    for n, word in enumerate(WORDS):
        store.put(("m", f"{n}"), "k", {"text": word, "n": n})
    assert [it.value["n"] for it in store.search(("m",), limit=5, offset=2)] == [6, 5, 4, 3, 2]
    for n, word in enumerate(WORDS):
        found = store.search(("m",), query=word, limit=9)
        assert found[0].value["n"] == n and len(found) == 9
        assert [it.score for it in found] == sorted((it.score for it in found), reverse=True)


def test_the_example_runs(url):
    root = Path(__file__).parent.parent.parent
    environment = {**os.environ, "HTM_URL": url, "PYTHONPATH": str(root)}
    example = root / "examples" / "langgraph_store.py"
    done = subprocess.run([sys.executable, example], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == [
        "noted: Staging moved to port 5434.",
        "noted: Mara prefers tabs.",
        "known: Staging moved to port 5434.",
    ], done.stderr


async def test_an_embedder_may_give_arrays_of_numpy(made, array):
    index = {"dims": DIMENSIONS, "embed": lambda texts: [array(it) for it in embed(texts)], "fields": ["text"]}
    store = made()
    store = HtmStore(store._htm, root=store._root, index=index)
    store.put(("a",), "k", {"text": "tabs"})
    await store.aput(("a",), "l", {"text": "spaces"})
    assert [it.key for it in store.search(("a",), query="tabs")] == ["k", "l"]
    assert [it.key for it in await store.asearch(("a",), query="spaces")] == ["l", "k"]
