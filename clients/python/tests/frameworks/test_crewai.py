"""The storage of CrewAI's memory, beside its own in LanceDB."""

import asyncio
import copy
import json
import math
import os
import random
import subprocess
import sys
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from pydantic import Field

# CrewAI reports what is done, and asks whether it may, from when it is imported.
os.environ.update(
    CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", CREWAI_TRACING_ENABLED="false", CREWAI_TESTING="true"
)
pytest.importorskip("crewai.memory.storage.backend")

from crewai import BaseLLM, Memory
from crewai.memory.storage.backend import EmbeddingDimensionMismatchError, StorageBackend
from crewai.memory.storage.lancedb_storage import LanceDBStorage
from crewai.memory.types import MemoryRecord

from htm_memory import Htm, errors
from htm_memory.crewai import HtmStorage

DIMENSIONS = 24

# Theirs counts in 32 bits.
NEAR = 1e-5

BEGIN = datetime(2026, 3, 1)

# No scope is the beginning of another one's name: for theirs `/home` has `/homes`.
SCOPES = ["/", "/crew", "/crew/research", "/crew/research/it's", "/home", '/home/Zoë "📝"', "/50%_\\/x", "/*/n"]
PREFIXES = [None, "/", "/crew", "/crew/", "/crew/research", "/home", "/nobody", "/50%_\\", "/*"]
CATEGORIES = ["fact", "it's", 'a "b"', "ß📝", "x" * 300, "nul \0"]
TEXTS = ["Mara prefers tabs.", "tabs", " ", "", "line\nbreak", "ß📝", "nul \0 it's", "\ud83d half", "x" * 5_000]
FILTERS = [
    {"kind": "note"},
    {"n": 1},
    {"n": True},
    {"n": 7.0},
    {"n": 7, "kind": "plan"},
    {"deep": {"x": [1, None]}},
    {"kind": None},
    {"it's": "ß📝"},
]


def vector(chance, is_unit=True):
    numbers = [chance.gauss(0, 1) for _ in range(DIMENSIONS)]
    length = math.hypot(*numbers) if is_unit else chance.choice([0.5, 1, 3])
    return [number / length for number in numbers]


def embed(texts):
    """Deterministic vectors: the sum of those of the words, with the length 1."""
    found = []
    for text in texts:
        words = [vector(random.Random(word)) for word in text.lower().split()]
        sums = [sum(part) for part in zip(*words, strict=True)]
        found.append([number / math.hypot(*sums) for number in sums])
    return found


def some_record(chance, at, is_unit=True):
    metadata = {}
    if chance.random() < 0.8:
        metadata["n"] = chance.choice([0, 1, 7, 7.5, True, 2**60, -0.1, None])
        metadata["kind"] = chance.choice(["note", "plan", "nul \0"])
    if chance.random() < 0.3:
        metadata |= {"deep": {"x": [1, None]}, "it's": "ß📝", "large": "y" * 2_000}
    return MemoryRecord(
        id=str(uuid.UUID(int=chance.getrandbits(128))),
        content=chance.choice(TEXTS),
        scope=chance.choice(SCOPES),
        categories=chance.sample(CATEGORIES, chance.randint(0, 3)),
        metadata=metadata,
        importance=chance.choice([0, 0.1, 0.5, 1]),
        created_at=BEGIN + timedelta(minutes=at, microseconds=chance.randint(0, 999_999)),
        embedding=None if chance.random() < 0.1 else vector(chance, is_unit),
        source=chance.choice([None, "mara", "session 7"]),
        private=chance.random() < 0.3,
    )


@pytest.fixture
def theirs(tmp_path):
    return LanceDBStorage(path=tmp_path / "lancedb", compact_every=0)


@pytest.fixture
def ours(htm, namespace):
    return HtmStorage(htm, namespace=namespace)


def as_json(record, touched=()):
    """A record with its vector. Theirs has zeros in the place of none, and no half characters."""
    if record is None:
        return None
    vector = record.embedding if record.embedding and any(record.embedding) else None
    exclude = {"last_accessed"} if record.id in touched else set()
    return {**record.model_dump(mode="json", exclude=exclude), "embedding": vector}


def as_set(records):
    return sorted(json.dumps(as_json(record), sort_keys=True) for record in records)


# Operations at random.


@pytest.mark.parametrize(("seed", "is_unit"), [(1, True), (2, True), (3, False)])
def test_it_is_the_storage_that_they_have(ours, theirs, seed, is_unit):
    """Random operations, where theirs is right: what is not is below."""
    assert isinstance(ours, StorageBackend)
    chance = random.Random(seed)
    there, touched = {}, set()
    for at in range(300):
        prefix, limit = chance.choice(PREFIXES), chance.choice([1, 3, 10, 100])
        known = chance.choice([*there]) if there else "somebody"
        kinds = ["save", "update", "delete", "touch", "search", "get", "list", "scopes", "reset"]
        match chance.choices(kinds, [6, 2, 1, 1, 6, 2, 2, 3, 0.2])[0]:
            case "save":
                records = [some_record(chance, at, is_unit) for _ in range(chance.choice([1, 1, 1, 6]))]
                for record in records:
                    # Theirs fails with half a pair of surrogates.
                    record.content = record.content.replace("\ud83d", "")
                    there[record.id] = record
                ours.save(records)
                theirs.save(records)
            case "update":
                update = {"id": known} if chance.random() < 0.9 else {}
                record = some_record(chance, at, is_unit)
                record = record.model_copy(update={**update, "content": record.content.replace("\ud83d", "")})
                there[record.id] = record
                touched.discard(record.id)
                ours.update(record)
                theirs.update(record)
            case "delete":
                assert_deleted(chance, ours, theirs, there, prefix, known)
            case "touch":
                before = ours.get_record(known)
                for storage in (ours, theirs):
                    storage.touch_records([known, "nobody"])
                touched.add(known)
                assert not before or ours.get_record(known).last_accessed > before.last_accessed
            case "search":
                given = {
                    "scope_prefix": prefix,
                    "categories": chance.choice([None, None, [], CATEGORIES[:1], CATEGORIES[1:4], CATEGORIES[4:]]),
                    "metadata_filter": chance.choice([None, None, {}, chance.choice(FILTERS)]),
                    "min_score": chance.choice([0, 0, 0.3, 0.4]),
                }
                query = vector(chance, is_unit)
                # Theirs filters what it has found, and so finds fewer; and what has no vector has one of zeros.
                everything = theirs.search(query, **given, limit=1_000)
                everything = [(record, score) for record, score in everything if any(record.embedding)]
                assert_nearest(ours.search(query, **given, limit=limit), everything, limit, touched)
            case "get":
                found = [as_json(storage.get_record(known), touched) for storage in (ours, theirs)]
                assert found[0] == found[1]
            case "list":
                given = {"scope_prefix": prefix, "limit": limit, "offset": chance.choice([0, 0, 2, 20])}
                found = [[as_json(it, touched) for it in storage.list_records(**given)] for storage in (ours, theirs)]
                assert found[0] == found[1]
            case "scopes":
                scope = prefix or "/"
                assert ours.list_scopes(scope) == theirs.list_scopes(scope)
                assert ours.get_scope_info(scope) == theirs.get_scope_info(scope)
                assert ours.list_categories(prefix) == theirs.list_categories(prefix)
                assert ours.count(prefix) == theirs.count(prefix)
            case "reset":
                scope = chance.choice(["/crew/research", "/home/", "/nobody"])
                for storage in (ours, theirs):
                    storage.reset(scope)
                gone = scope.rstrip("/")
                there = {it: record for it, record in there.items() if not f"{record.scope}/".startswith(f"{gone}/")}
    assert ours.count() == len(there) > 30
    for storage in (ours, theirs):
        storage.reset()
        assert storage.list_records() == [] == storage.search(vector(chance)) == storage.list_scopes()


def assert_deleted(chance, ours, theirs, there, prefix, known):
    match chance.choice(["ids", "categories", "metadata", "scope"]):
        case "ids":
            given = {"record_ids": [known, "nobody"]}
        case "categories":
            given = {"categories": [chance.choice(CATEGORIES)], "scope_prefix": prefix}
        case "metadata":
            given = {"metadata_filter": chance.choice(FILTERS), "scope_prefix": prefix}
            given |= chance.choice([{}, {"older_than": BEGIN + timedelta(minutes=chance.randint(0, 300))}])
        case _:
            # Theirs deletes those of `/` too, and does not look at their age.
            given = {"scope_prefix": prefix, "older_than": BEGIN + timedelta(minutes=chance.randint(0, 200))}
            ids = [it.id for it in theirs.list_records(prefix, 1_000) if it.created_at < given["older_than"]]
            deleted = ours.delete(**given)
            assert deleted == (theirs.delete(record_ids=ids) if ids else 0) == len(ids)
            given = None
    if given:
        assert ours.delete(**given) == theirs.delete(**given)
    left = {record.id for record in theirs.list_records(limit=1_000)}
    for gone in there.keys() - left:
        del there[gone]


def assert_nearest(found, everything, limit, touched):
    """Whether these are the nearest. Those of equal distance may change places."""
    known = {record.id: (record, score) for record, score in everything}
    assert len(found) == min(limit, len(everything)) == len({record.id for record, _ in found})
    for (record, score), (_, wanted) in zip(found, everything, strict=False):
        same, own = known[record.id]
        assert as_json(record, touched) == as_json(same, touched)
        assert abs(score - own) < NEAR and abs(score - wanted) < NEAR


# What is wrong with LanceDBStorage 1.15.30: each pair is theirs and ours.


def both(theirs, ours, act):
    return act(theirs), act(ours)


def saved(storage, *scopes, **fields):
    records = [
        MemoryRecord(id=f"{n}", content=f"{n}", scope=scope, embedding=embed([f"w{n}"])[0], **fields)
        for n, scope in enumerate(scopes)
    ]
    storage.save(records)
    return records


def test_a_scope_has_what_is_below_it(theirs, ours):
    """Theirs compares letters."""
    for storage in (theirs, ours):
        saved(storage, "/a", "/a/b", "/ab", "/a-b", "/a/📝")
    assert both(theirs, ours, lambda it: it.count("/a")) == (5, 3)
    assert both(theirs, ours, lambda it: len(it.search(embed(["w0"])[0], "/a"))) == (5, 3)
    assert both(theirs, ours, lambda it: it.list_scopes("/a")) == (["/a/b", "/a/📝"], ["/a/b", "/a/📝"])
    # Theirs takes the signs before `/` for what is below, and those after U+FFFF not.
    for storage in (theirs, ours):
        storage.reset("/a")
    left = both(theirs, ours, lambda it: sorted(record.scope for record in it.list_records()))
    assert left == (["/a/📝", "/ab"], ["/a-b", "/ab"])


def test_what_is_deleted_meets_all_conditions(theirs, ours):
    def left(storage):
        return sorted(record.id for record in storage.list_records())

    def again():
        for storage in (theirs, ours):
            storage.reset()
            saved(storage, "/", "/a", "/b", categories=["x"])

    again()
    # Theirs deletes the records of `/` too.
    assert both(theirs, ours, lambda it: it.delete("/a")) == (2, 1)
    assert both(theirs, ours, left) == (["2"], ["0", "2"])
    again()
    # Theirs does not look at the age of those of the scope.
    assert both(theirs, ours, lambda it: it.delete("/a", older_than=BEGIN)) == (1, 0)
    again()
    # Theirs looks at the ids alone, or not at all.
    assert both(theirs, ours, lambda it: it.delete("/a", record_ids=["2"])) == (1, 0)
    again()
    assert both(theirs, ours, lambda it: it.delete(record_ids=["2"], categories=["x"])) == (3, 1)
    again()
    assert both(theirs, ours, lambda it: it.delete(record_ids=[])) == (3, 0)


def test_a_record_is_there_once(theirs, ours):
    """Theirs has a record that is saved again twice."""
    for storage in (theirs, ours):
        saved(storage, "/a", "/a")
        saved(storage, "/a")
    assert both(theirs, ours, lambda it: it.count()) == (3, 2)


def test_a_filter_finds_as_many_as_there_are(theirs, ours):
    """Theirs looks at three times as many as are wanted, and filters these."""
    for storage in (theirs, ours):
        near = [
            MemoryRecord(content="near", embedding=embed(["tabs"])[0], categories=["x"] if n >= 20 else ["y"])
            for n in range(23)
        ]
        storage.save(near)
    found = both(theirs, ours, lambda it: len(it.search(embed(["tabs"])[0], categories=["x"], limit=3)))
    assert found[0] < 3 == found[1]


def test_what_has_no_vector_is_near_to_nothing(theirs, ours):
    """Theirs gives it a vector of zeros, which is nearer than most: its score is 0.5."""
    for storage in (theirs, ours):
        saved(storage, "/")
        storage.save([MemoryRecord(id="none", content="no vector")])
    found = both(theirs, ours, lambda it: [record.id for record, _ in it.search(embed(["other"])[0])])
    assert found == (["none", "0"], ["0"])
    assert both(theirs, ours, lambda it: it.get_record("none").embedding) == ([0.0] * DIMENSIONS, None)


# More.


def test_every_field_comes_back(ours):
    """Also what theirs refuses, and what the server keeps in another way."""
    records = [
        MemoryRecord(
            id=it,
            content=text,
            scope=scope,
            categories=["b", "a", "b", "", "\0", "\ud800"],
            metadata={"": 1, "n": 2**70, "x": 1e300, "nul \0": ["\ud800", {"y": None}], "0.1": 0.1, "one": 1.0},
            importance=0.1 + 0.2,
            created_at=created,
            last_accessed=created,
            embedding=[1e30, -1e-30] * (DIMENSIONS // 2),
            source="nul \0",
            private=True,
        )
        for it, text, scope, created in [
            ("k", "ß📝", "/", datetime(1970, 1, 1)),
            ("K", "\0", "", datetime.max),
            ("x" * 2_000, " \n", "no slash//twice/", datetime(1, 1, 1, 0, 0, 0, 1)),
            ("line\nbreak", "\ud83d half", "/line\nbreak/ /nul\0/\ud800/%2F/..", datetime(2026, 1, 1)),
            ("it's", "x" * (1 << 20), "/it's", datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=2)))),
        ]
    ]
    ours.save(records)
    for record in records:
        found = ours.get_record(record.id)
        assert found.model_dump() == record.model_dump()
        assert all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(found.embedding, record.embedding, strict=True))
        assert ours.count(record.scope) >= 1
    assert ours.list_scopes("no slash") == ["/no slash/twice"]
    assert ours.list_scopes("/line\nbreak") == ["/line\nbreak/ "]
    found = ours.search([1e30] + [0.0] * (DIMENSIONS - 1))
    assert {record.id for record, _ in found} == {record.id for record in records}
    with pytest.raises(TypeError):
        ours.save([MemoryRecord(content="no JSON", metadata={"x": {1, 2}})])
    with pytest.raises(errors.NamespaceInvalid):
        ours.save([MemoryRecord(content="too deep", scope="/long" * 200)])


def test_lists_have_no_last_page(ours, monkeypatch):
    """More records, also of one time, than an answer of the server has."""
    monkeypatch.setattr("htm_memory.crewai.PAGE", 3)
    monkeypatch.setattr("htm_memory.crewai.MOST", 11)
    monkeypatch.setattr("htm_memory.crewai.BATCH", 7)
    records = [
        MemoryRecord(id=f"{n}", content=f"{n}", scope=f"/s/{n % 8}", created_at=BEGIN + timedelta(days=n // 9))
        for n in range(60)
    ]
    ours.save(records)
    listed = ours.list_records(limit=100)
    assert [record.created_at for record in listed] == sorted((it.created_at for it in records), reverse=True)
    assert len({record.id for record in listed}) == 60 == ours.count("/s")
    assert [it.id for it in ours.list_records(limit=5, offset=8)] == [it.id for it in listed[8:13]]
    assert ours.list_scopes("/s") == sorted(f"/s/{n}" for n in range(8))
    assert ours.delete("/s", older_than=BEGIN + timedelta(days=3)) == 27
    assert ours.delete() == 33


def test_writers_at_once(url, namespace):
    """Threads with clients of their own agree on the model, and lose nothing. A record that all of them save is there
    once, and one that all of them move is in one scope."""
    start = threading.Barrier(8)
    common = MemoryRecord(id="common", content="common", embedding=embed(["common"])[0])

    def write(number):
        with Htm(url) as htm:
            storage = HtmStorage(htm, namespace=namespace)
            start.wait()
            for n in range(5):
                records = [
                    MemoryRecord(content=f"{number} {n}", scope=f"/w/{number}", embedding=embed([f"{number} {n}"])[0])
                ]
                storage.save([*records, common])
            start.wait()
            storage.update(common.model_copy(update={"scope": f"/moved/{number}"}))
            start.wait()
            return storage.delete(record_ids=[records[0].id, "common"])

    with ThreadPoolExecutor(8) as pool:
        deleted = list(pool.map(write, range(8)))
    with Htm(url) as htm:
        storage = HtmStorage(htm, namespace=namespace)
        assert storage.count("/moved") == storage.count("/") - storage.count("/w") == 0
        assert storage.count() == 8 * 4 and sum(deleted) >= 8 + 1


async def test_asynchronous_calls_at_once(ours, theirs):
    records = [MemoryRecord(id=f"{n}", content=f"{n}", scope="/a", embedding=embed([f"{n}"])[0]) for n in range(24)]
    await asyncio.gather(*(ours.asave([record]) for record in records), *(ours.asave([it]) for it in records))
    await theirs.asave(records)
    assert ours.count() == 24
    found = await asyncio.gather(*(ours.asearch(record.embedding, "/a", limit=2) for record in records))
    for record, nearest in zip(records, found, strict=True):
        assert_nearest(nearest, await theirs.asearch(record.embedding, "/a", limit=24), 2, ())
        assert nearest[0][0].id == record.id
    assert sum(await asyncio.gather(*(ours.adelete(record_ids=[it.id]) for it in records))) == 24
    assert ours.list_records() == []


def test_a_new_object_finds_the_old_records(url, htm, namespace):
    records = saved(HtmStorage(htm, namespace=namespace), "/a", "/b/c")
    with Htm(url) as other:
        storage = HtmStorage(other, namespace=namespace)
        assert as_set(storage.list_records()) == as_set(theirs_precision(record) for record in records)
        with pytest.raises(EmbeddingDimensionMismatchError) as raised:
            storage.save([MemoryRecord(content="of another embedder", embedding=[1.0, 0.0])])
        assert (raised.value.stored_dim, raised.value.new_dim) == (DIMENSIONS, 2)
        with pytest.raises(EmbeddingDimensionMismatchError):
            storage.search([1.0, 0.0])
        with pytest.raises(EmbeddingDimensionMismatchError):
            storage.update(records[0].model_copy(update={"embedding": [1.0, 0.0]}))
        storage.reset()
        storage.save([MemoryRecord(content="of another embedder", embedding=[1.0, 0.0])])
        assert [score for _, score in storage.search([1.0, 0.0])] == [1]


def theirs_precision(record):
    import struct

    packed = struct.pack(f"{DIMENSIONS}f", *record.embedding)
    return record.model_copy(update={"embedding": list(struct.unpack(f"{DIMENSIONS}f", packed))})


def test_memories_are_found_by_recall_too(htm, ours, namespace):
    record = MemoryRecord(content="Staging moved to port 5434.", scope="/ops", importance=1.0, source="mara")
    ours.save([record])
    found = htm.recall.recall(query="port of staging", filter={"namespaces": [f"{namespace}/ops"]})
    assert [(hit.content, hit.importance, hit.source) for hit in found.hits] == [(record.content, 10, "mara")]


# CrewAI's own Memory.


class Model(BaseLLM):
    """Answers as it is told, in turn."""

    answers: list = Field(default_factory=list)

    def call(self, messages, *args, **options):
        return json.dumps(self.answers.pop(0))


def test_crewai_uses_it(ours):
    model = Model(model="stub")
    memory = Memory(storage=ours, embedder=embed, llm=model, root_scope="/crew/research")
    kept = memory.remember("Staging moved to port 5434.", scope="/ops", categories=["decision"], importance=0.9)
    memory.remember_many(["Mara prefers tabs."], scope="/people", categories=["preference"], importance=0.5)
    given = {"scope": "/people", "categories": ["x"], "importance": 0.1}
    secret = memory.remember("it's a secret", **given, source="a", private=True)
    assert memory.list_scopes() == ["/crew/research/ops", "/crew/research/people"]
    assert memory.list_categories() == {"decision": 1, "preference": 1, "x": 1}
    [best, *_] = memory.recall("which port did staging move to")
    assert best.record.id == kept.id and best.record.scope == "/crew/research/ops"
    assert ours.get_record(kept.id).last_accessed > kept.last_accessed
    assert secret.id not in {match.record.id for match in memory.recall("a secret", depth="shallow")}
    assert memory.recall("a secret", depth="shallow", source="a")[0].record.id == secret.id
    assert memory.tree().splitlines()[0] == "/crew/research (3 records)"

    # What is nearly the same is put together as the model says.
    again = "Staging moved to port 5434 ."
    merged = "Staging moved to port 5434 on Monday."
    action = {"record_id": kept.id, "action": "update", "new_content": merged, "reason": "the day"}
    model.answers[:] = [{"actions": [action], "insert_new": False}]
    memory.consolidation_threshold = memory._config.consolidation_threshold = 0.5
    memory.remember(again, scope="/ops", categories=["decision"], importance=0.9)
    assert not model.answers and [it.content for it in memory.list_records("/ops")] == [merged]
    memory._config.consolidation_threshold = 0.99

    # The model chooses what is not given.
    analysis = {"suggested_scope": "/costs", "categories": ["budget"], "importance": 0.7}
    model.answers[:] = [{**analysis, "extracted_metadata": {"entities": ["ledger"], "dates": [], "topics": []}}]
    chosen = memory.remember("The ledger costs 40 euros.")
    assert (chosen.scope, chosen.categories) == ("/crew/research/costs", ["budget"])

    moved = memory.update(chosen.id, scope="/crew/research/ops", importance=1.0)
    assert ours.get_record(chosen.id).embedding == moved.embedding
    assert memory.info("/ops").record_count == 2 and memory.info("/costs").record_count == 0
    assert memory.scope("/ops").info().record_count == 2
    # Its copies of a memory do so with the storage.
    assert copy.deepcopy(ours) is ours
    assert memory.forget(categories=["budget"]) == 1
    memory.reset()
    assert memory.list_records() == []
    memory.close()


def test_a_key_of_a_robot_changes_what_it_saved(htm_of_robot, namespace):
    storage = HtmStorage(htm_of_robot, namespace=namespace)
    first, second = saved(storage, "/a", "/b")
    # In several scopes at once, of which the robot of the server is in one.
    storage.save([first, second.model_copy(update={"content": "changed"})])
    storage.touch_records([first.id, second.id])
    storage.update(first.model_copy(update={"scope": "/b"}))
    assert {it.content for it in storage.list_records("/b")} == {first.content, "changed"}
    assert storage.delete() == 2


def test_answers_that_are_too_large_are_read_in_parts(narrow, ours, namespace):
    records = saved(ours, *(f"/s/{n % 3}" for n in range(20)))
    htm = narrow(limit=7)
    storage = HtmStorage(htm, namespace=namespace)
    assert {it.id for it in storage.list_records("/s")} == {it.id for it in records}
    assert storage.count() == 20
    # The nearest of which an answer has room.
    assert [it.id for it, _ in storage.search(records[3].embedding, limit=1)] == [records[3].id]
    assert len(storage.search(records[3].embedding, limit=20)) == 6
    assert htm._http._transport.refused


def test_more_scopes_than_a_question_may_name(narrow, ours, namespace, monkeypatch):
    monkeypatch.setattr("htm_memory.pages.NAMESPACES", 4)
    records = saved(ours, *(f"/s/{n}" for n in range(9)))
    storage = HtmStorage(narrow(namespaces=4), namespace=namespace)
    assert [it.id for it in storage.list_records("/s")] == [it.id for it in ours.list_records("/s")]
    assert storage.get_record(records[8].id).scope == "/s/8"
    storage.touch_records([it.id for it in records])
    assert storage.search(records[5].embedding, limit=3)[0][0].id == records[5].id
    assert len(storage.search(records[5].embedding, limit=9)) == 9
    assert storage.delete(record_ids=[it.id for it in records]) == 9


def test_the_example_runs(url):
    root = Path(__file__).parent.parent.parent
    example = root / "examples" / "crewai_memory.py"
    environment = {**os.environ, "HTM_URL": url, "PYTHONPATH": str(root)}
    for _ in range(2):
        done = subprocess.run([sys.executable, example], env=environment, capture_output=True, text=True, timeout=120)
        assert done.stdout.splitlines() == [
            "/ (3 records)",
            "  /operations (2 records)",
            "    /operations/capacity (1 records)",
            "  /people (1 records)",
            "    /people/mara (1 records)",
            "recalled: Staging moved to port 5434.",
            "forgotten: 1",
            "['/operations'] {'decision': 1, 'fact': 1}",
        ], done.stderr


def test_an_embedder_may_give_arrays_of_numpy(ours):
    numpy = pytest.importorskip("numpy")
    given = numpy.array(vector(random.Random(1)), dtype=numpy.float32)
    record = MemoryRecord(content="tabs")
    record.embedding = list(given)
    ours.save([record])
    [(found, _)] = ours.search(given)
    assert found.id == record.id
