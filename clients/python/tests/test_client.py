"""The client against a server: calls, errors, retries, streams."""

import json
import re
from pathlib import Path

import httpx
import pytest
from packaging.requirements import Requirement
from pydantic import ValidationError

from htm_memory import AsyncHtm, Htm, HtmError, errors, models


def test_a_memory_is_remembered_found_edited_and_forgotten(htm, namespace):
    written = htm.memories.create("Mara prefers tabs.", namespace=namespace, tags=["editor"], wait="embed")
    assert isinstance(written, models.Written)
    found = htm.recall.recall(query="tabs or spaces?", filter={"namespaces": [namespace]})
    assert [hit.content for hit in found.hits] == ["Mara prefers tabs."]
    again = htm.recall.recall(query="tabs", filter=models.FilterBody(namespaces=[namespace]))
    assert again.hits[0].id == written.node
    edited = htm.memories.edit(written.node, if_revision=1, content="Mara prefers spaces.", namespace=namespace)
    assert (edited.revision, edited.changed) == (2, ["content"])
    with pytest.raises(errors.RevisionConflict) as lost:
        htm.memories.edit(written.node, if_revision=1, content="Mara prefers both.", namespace=namespace)
    assert (lost.value.status, lost.value.code) == (412, "revision_conflict")
    assert lost.value.values["node"] == str(written.node)
    assert lost.value.request_id
    htm.memories.forget(written.node, namespace=namespace, confirm=True)
    with pytest.raises(errors.NodeNotFound):
        htm.memories.get(written.node)
    assert htm.memories.forgotten(namespace=namespace).memories[0].node == written.node


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (models.FilterBody, {"namespace": "users/lena"}),
        (models.NewMemory, {"content": "one", "importnace": 9}),
        (models.Message, {"role": "user", "content": "one", "importance": 9}),
        (models.AddSynonym, {"tag": "a", "name": "b", "nmae": "c"}),
    ],
)
def test_a_request_refuses_a_field_that_it_does_not_have(kind, fields):
    *_, unknown = fields
    with pytest.raises(ValidationError, match=unknown):
        kind(**fields)


def test_an_answer_of_a_newer_server_may_have_more_fields():
    written = models.Written.model_validate({"node": 1, "outcome": "written", "newer": True})
    assert written.node == 1


def test_null_removes_and_what_is_not_given_stays(htm, namespace):
    node = htm.memories.create("one", namespace=namespace, key="k", source="chat").node
    htm.memories.edit(node, namespace=namespace, source=None, importance=5)
    read = htm.memories.get(node)
    assert (read.key, read.source, read.importance) == ("k", None, 5)
    htm.memories.edit(node, namespace=namespace, metadata={"a": 1, "b": [2]})
    htm.memories.edit(node, namespace=namespace, metadata={"a": None})
    assert htm.memories.get(node).metadata == {"b": [2]}


async def test_the_asynchronous_client_does_the_same(async_htm, namespace):
    written = await async_htm.memories.create("Mara prefers tabs.", namespace=namespace)
    page = await async_htm.memories.list(namespace=namespace)
    assert [it.id for it in page.memories] == [written.node]
    with pytest.raises(errors.NodeNotFound):
        await async_htm.memories.get(10**12)


def test_every_page_is_read(htm, namespace):
    htm.memories.create_many([{"content": f"memory {n}", "namespace": namespace} for n in range(25)])
    seen, cursor = [], None
    while True:
        page = htm.memories.list(namespace=namespace, limit=10, cursor=cursor)
        seen += [it.content for it in page.memories]
        if not (cursor := page.next):
            break
    assert sorted(seen) == sorted(f"memory {n}" for n in range(25))


def test_arrays_numbers_and_times_of_numpy_are_sent(array, times):
    sent = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.content.decode())
        return httpx.Response(200, json={"node": 1, "outcome": "written", "hits": [], "line": 1})

    vector = array([0.5, 0.25])
    with httpx.Client(transport=httpx.MockTransport(answer)) as http:
        htm = Htm("http://here", http=http)
        htm.memories.create("one", vectors={"caller/m": vector}, importance=vector[0], metadata={"a": [vector[1]]})
        htm.memories.create("two", created_at=times[0], metadata={"at": times})
        list(htm.import_lines([{"id": "m", "vector": vector, "importance": vector[0], "at": times[0]}]))
    time = "2026-03-01T12:00:00.000000000"
    assert [json.loads(it) for it in sent] == [
        {"content": "one", "vectors": {"caller/m": [0.5, 0.25]}, "importance": 0.5, "metadata": {"a": [0.25]}},
        {"content": "two", "created_at": time, "metadata": {"at": [time, time]}},
        {"id": "m", "vector": [0.5, 0.25], "importance": 0.5, "at": time},
    ]


class LosesAnswers(httpx.BaseTransport):
    """Passes requests on, and loses the first answers to them."""

    def __init__(self, lost: int) -> None:
        self.passed, self.lost, self.keys = httpx.HTTPTransport(), lost, []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.keys.append(request.headers.get("idempotency-key"))
        answer = self.passed.handle_request(request)
        if self.lost:
            self.lost -= 1
            answer.close()
            raise httpx.ReadError("the answer is lost", request=request)
        return answer


def test_a_lost_answer_does_not_write_twice(url, htm, namespace):
    wire = LosesAnswers(2)
    with httpx.Client(transport=wire) as http:
        written = Htm(url, http=http).memories.create("once", namespace=namespace)
    assert len(wire.keys) == 3 and len(set(wire.keys)) == 1 and wire.keys[0]
    assert [it.id for it in htm.memories.list(namespace=namespace).memories] == [written.node]
    wire = LosesAnswers(9)
    with httpx.Client(transport=wire) as http, pytest.raises(errors.Unreachable):
        Htm(url, http=http, retries=2).memories.create("never told", namespace=namespace)
    assert len(wire.keys) == 3


def test_a_busy_server_is_asked_again():
    attempts = []

    def busy(request: httpx.Request) -> httpx.Response:
        attempts.append(request)
        if len(attempts) < 3:
            problem = {"code": "too_busy", "detail": "256 requests are in hand", "hint": "", "title": "", "type": ""}
            return httpx.Response(429, json=problem, headers={"Retry-After": "0"})
        return httpx.Response(200, json=[])

    with httpx.Client(transport=httpx.MockTransport(busy)) as http:
        assert Htm("http://here", http=http).jobs.queues() == []
    assert len(attempts) == 3


def test_the_answer_to_a_call_that_is_still_in_hand_is_waited_for():
    still = {"code": "operation_open", "detail": "in hand", "hint": "", "title": "", "type": ""}
    answers = iter(
        [
            httpx.Response(408, json={**still, "code": "request_too_slow"}),
            *[httpx.Response(409, json=still, headers={"Retry-After": "0"}) for _ in range(4)],
            httpx.Response(200, json=[]),
        ]
    )
    with httpx.Client(transport=httpx.MockTransport(lambda _: next(answers))) as http:
        assert Htm("http://here", http=http, retries=1).jobs.queues() == []
    assert next(answers, None) is None


def test_reads_see_what_was_written():
    positions = iter(["0/FF", None, "1/2", "0/100"])
    sent = []

    def replicated(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers.get("HTM-WAL-Position"))
        position = next(positions, None)
        return httpx.Response(200, json=[], headers={"HTM-WAL-Position": position} if position else {})

    with httpx.Client(transport=httpx.MockTransport(replicated)) as http:
        htm = Htm("http://here", http=http)
        for _ in range(5):
            htm.jobs.queues()
    assert sent == [None, "0/FF", "0/FF", "1/2", "1/2"]


def test_what_is_no_server_of_htm_is_told():
    other = httpx.MockTransport(lambda request: httpx.Response(404, text="<html>"))
    with httpx.Client(transport=other) as http, pytest.raises(errors.NoProblem) as told:
        Htm("http://here", http=http).models.list()
    assert told.value.status == 404
    page = httpx.MockTransport(lambda request: httpx.Response(200, text="<html>a secret"))
    with httpx.Client(transport=page) as http:
        htm = Htm("http://here", http=http)
        for ask in (htm.models.list, lambda: list(htm.export_lines()), lambda: list(htm.import_lines(["{}"]))):
            with pytest.raises(errors.NoProblem, match="not what HTM answers") as told:
                ask()
            assert "secret" not in str(told.value) and told.value.status == 200
    with pytest.raises(errors.Unreachable), Htm("http://127.0.0.1:9", retries=0) as htm:
        htm.models.list()


def test_an_export_is_imported_line_by_line(htm, namespace):
    # A line feed ends a line, and no other separator that a text may have.
    lines = [{"id": f"m{n}", "ns": namespace, "text": f"memory\u2028 {n}\u0085"} for n in range(5)]
    results = list(htm.import_lines(lines))
    assert [(it.line, it.problem) for it in results] == [(n + 1, None) for n in range(5)]
    again = list(htm.import_lines(json.dumps(line) for line in lines))
    assert {it.outcome for it in again} == {"existing"}
    bad = list(htm.import_lines([*lines[:1], {"id": "x", "ns": namespace}]))
    assert bad[1].problem and bad[1].problem.code
    [half] = htm.import_lines(['{"id": "x", "text": "\ud83d"}'])
    assert half.problem
    exported = list(htm.export_lines(namespace))
    assert sum(it["kind"] == "memory" for it in exported) == 5, exported
    with pytest.raises(HtmError):
        list(htm.export_lines("not a namespace//"))


def memories(namespace, count):
    return [{"id": f"m{n}", "ns": namespace, "text": f"memory {n}", "metadata": {"kind": "x"}} for n in range(count)]


class Source:
    """Gives lines, and others only after the results of these. A blank line has no result, and two in one have two."""

    def __init__(self, namespace: str) -> None:
        self.lines, self.seen = memories(namespace, 1_003), []

    def __iter__(self):
        yield "\n"
        for at, line in enumerate(self.lines[:1_001]):
            if at and at % 500 == 0:
                assert len(self.seen) >= at - 1
            yield line
        yield "\n".join(map(json.dumps, self.lines[1_001:]))
        raise KeyError("the disk is gone")

    async def __aiter__(self):
        for line in iter(self):
            yield line


def test_results_come_while_lines_are_still_made(htm, namespace):
    source = Source(namespace)
    with pytest.raises(KeyError):
        for result in htm.import_lines(source):
            source.seen.append(result)
    assert [(it.line, it.outcome) for it in source.seen] == [(n + 1, "written") for n in range(1, 1_000)]
    lines = ["", *source.lines[:700], "\n".join(map(json.dumps, source.lines[700:])), "no line"]
    again = list(htm.import_lines(lines))
    assert [it.line for it in again] == list(range(2, 1_006))
    assert [it.outcome for it in again] == ["existing"] * 999 + ["written"] * 4 + [None]


async def test_results_of_the_asynchronous_client_come_while_lines_are_still_made(async_htm, namespace):
    source = Source(namespace)
    with pytest.raises(KeyError):
        async for result in async_htm.import_lines(aiter(source)):
            source.seen.append(result)
    assert [(it.line, it.outcome) for it in source.seen] == [(n + 1, "written") for n in range(1, 1_000)]


class Importing:
    """Is away first, refuses the second part as often as told, and ends the import in it."""

    def __init__(self, refusals: int = 0) -> None:
        self.bodies: list[bytes] = []
        self.refusals = refusals

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(request.content)
        if len(self.bodies) == 1:
            return httpx.Response(503, json={"code": "stopping"}, headers={"Retry-After": "0"})
        if 3 <= len(self.bodies) < 3 + self.refusals:
            return httpx.Response(429, json={"code": "too_many_requests"}, headers={"Retry-After": "7"})
        count = 500 if len(self.bodies) == 2 else 3
        lines = [json.dumps({"line": n + 1, "outcome": "written"}) + "\n" for n in range(count)]
        return httpx.Response(200, text="".join(lines))


async def test_an_import_waits_for_a_busy_server_and_ends_where_the_server_ends_it(namespace):
    server = Importing()
    with httpx.Client(transport=httpx.MockTransport(server)) as http:
        results = list(Htm("http://here", http=http).import_lines(memories(namespace, 2_000)))
    assert [it.line for it in results] == list(range(1, 504))
    assert [it.count(b"\n") for it in server.bodies] == [500, 500, 500]
    server = Importing()
    async with httpx.AsyncClient(transport=httpx.MockTransport(server)) as http:
        imported = AsyncHtm("http://here", http=http).import_lines(memories(namespace, 2_000))
        assert [it.line async for it in imported] == list(range(1, 504))
    assert len(server.bodies) == 3


async def test_an_import_waits_for_its_turn_as_long_as_the_server_asks(namespace, monkeypatch):
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("htm_memory.client.time.sleep", waited.append)
    monkeypatch.setattr("htm_memory.client.asyncio.sleep", wait)
    # More often than a call is repeated.
    with httpx.Client(transport=httpx.MockTransport(Importing(6))) as http:
        assert len(list(Htm("http://here", http=http).import_lines(memories(namespace, 2_000)))) == 503
    async with httpx.AsyncClient(transport=httpx.MockTransport(Importing(6))) as http:
        imported = AsyncHtm("http://here", http=http).import_lines(memories(namespace, 2_000))
        assert len([it async for it in imported]) == 503
    assert waited == [0, *[7] * 6] * 2
    monkeypatch.setattr("htm_memory.calls.OPEN_FOR", 0.0)
    with httpx.Client(transport=httpx.MockTransport(Importing(6))) as http:
        with pytest.raises(errors.TooManyRequests):
            list(Htm("http://here", http=http, retries=2).import_lines(memories(namespace, 2_000)))


async def test_an_export_is_imported_in_one_request(htm, async_htm, namespace):
    list(htm.import_lines(memories(namespace, 1_100)))
    exported = list(htm.export_lines(namespace))
    for lines in (exported, [*memories(namespace, 3), *exported]):
        for results in (list(htm.import_lines(lines)), [it async for it in async_htm.import_lines(lines)]):
            assert len(results) >= 1_100 and {it.outcome for it in results} == {"existing"}


async def test_streams_of_the_asynchronous_client(async_htm, namespace):
    lines = [{"id": f"m{n}", "ns": namespace, "text": f"memory {n}"} for n in range(3)]
    assert len([it async for it in async_htm.import_lines(lines)]) == 3
    await async_htm.memories.create("one\u2029two", namespace=namespace)
    assert [it async for it in async_htm.export_lines(namespace)]
    node = None
    # It begins with the depth of each queue, so it is open then.
    async for event in async_htm.events(namespace):
        node = node or (await async_htm.memories.create("Mara prefers tabs.", namespace=namespace)).node
        if event.kind == "memory.embedded" and event.data["node"] == node:
            break


def test_events_go_on_where_they_were(htm, namespace):
    first = htm.events(namespace)
    # It is open from its first event on.
    assert next(first).kind == "queue.depth"
    node = htm.memories.create("Mara prefers tabs.", namespace=namespace).node
    embedded = next(it for it in first if it.kind == "memory.embedded")
    assert embedded.data["node"] == node
    first.close()
    other = htm.memories.create("Ben prefers spaces.", namespace=namespace).node
    later = next(it for it in htm.events(namespace, after=embedded.id) if it.kind == "memory.embedded")
    assert later.data["node"] == other


def test_events_outlive_a_server_that_is_away():
    answers = [
        httpx.Response(200, headers={"content-type": "text/event-stream"}, text="id: 1-0-\n\n"),
        *[httpx.Response(503, headers={"Retry-After": "0"}, json={"code": "stopping"})] * 3,
        httpx.Response(
            200, headers={"content-type": "text/event-stream"}, text='id: 2-0-\nevent: job.dead\ndata: {"job": "x"}\n\n'
        ),
    ]
    asked = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.params.get("after"))
        return answers[len(asked) - 1]

    with httpx.Client(transport=httpx.MockTransport(answer)) as http:
        event = next(Htm("http://here", http=http, retries=1).events())
    assert (event.kind, event.id, event.data) == ("job.dead", "2-0-", {"job": "x"})
    assert asked == [None] + ["1-0-"] * 4


# An event without a place is where the last one was, also of another connection.
PLACELESS = 'event: queue.depth\ndata: {"queue": "embed"}\n\n'
PLACES = [PLACELESS, f"id: 1-0-\n\n{PLACELESS}", PLACELESS, f"{PLACELESS}id: 2-0-\n{PLACELESS}{PLACELESS}"]
PLACED = ["0-0-", "1-0-", "1-0-", "1-0-", "2-0-", "2-0-"]
ASKED = ["0-0-", "0-0-", "1-0-", "1-0-"]


class Interrupted:
    """A stream of events that ends again and again."""

    def __init__(self) -> None:
        self.asked: list[str | None] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url.params.get("after"))
        sent = PLACES[len(self.asked) - 1]
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, text=sent)


def test_an_event_without_a_place_has_the_last_one(monkeypatch):
    monkeypatch.setattr("htm_memory.client.pause", lambda *_: 0)
    server = Interrupted()
    with httpx.Client(transport=httpx.MockTransport(server)) as http:
        events = Htm("http://here", http=http).events(after="0-0-")
        assert [next(events).id for _ in PLACED] == PLACED
        assert server.asked == ASKED
        # Without any there is none.
        server.asked.clear()
        assert next(Htm("http://here", http=http).events()).id == ""
        assert server.asked == [None]


async def test_an_asynchronous_event_without_a_place_has_the_last_one(monkeypatch):
    monkeypatch.setattr("htm_memory.client.pause", lambda *_: 0)
    server = Interrupted()
    async with httpx.AsyncClient(transport=httpx.MockTransport(server)) as http:
        events = AsyncHtm("http://here", http=http).events(after="0-0-")
        assert [(await anext(events)).id for _ in PLACED] == PLACED
    assert server.asked == ASKED


# A text as JSON has it, with what ends a line elsewhere and not in a stream of events.
SEPARATED = "one\x85two\u2028three\u2029four"


def separated(_: httpx.Request) -> httpx.Response:
    sent = f'id: 1-0-\nevent: job.dead\ndata: {{"error": "{SEPARATED}"}}\n\n'
    return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=sent.encode())


def test_the_texts_of_events_stay_whole():
    with httpx.Client(transport=httpx.MockTransport(separated)) as http:
        event = next(Htm("http://here", http=http).events())
    assert event.data == {"error": SEPARATED}


async def test_the_texts_of_asynchronous_events_stay_whole():
    async with httpx.AsyncClient(transport=httpx.MockTransport(separated)) as http:
        event = await anext(AsyncHtm("http://here", http=http).events())
    assert event.data == {"error": SEPARATED}


def test_no_package_that_cuts_the_texts_of_events_is_installed():
    project = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    [wanted] = re.findall(r'^ +"(httpx-sse.*)",$', project, re.M)
    kept = Requirement(wanted).specifier
    assert [it for it in ("0.4.0", "0.4.1", "0.4.2", "0.4.3") if it in kept] == ["0.4.2", "0.4.3"]


def test_a_part_of_a_path_stays_one(htm, namespace):
    htm.memories.create("one", namespace=namespace, key="a/b ?#%")
    assert htm.memories.get_by_key("a/b ?#%", namespace=namespace).content == "one"
    for part in ("", ".", ".."):
        with pytest.raises(ValueError, match="cannot have the part"):
            htm.memories.get_by_key(part)


def test_each_operation_has_a_method(htm, namespace):
    for subject in ("backfills", "erasures", "files", "groups", "jobs", "keys", "members", "namespaces", "robots"):
        assert hasattr(htm, subject)
    assert htm.files.create(path="/memories/a.md", file_text="text", namespace=namespace).content.startswith("File")
