"""The HTTP client of a program, with which clients send: it stays as it was, and none of them has what another has."""

import asyncio
import gc
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from htm_memory import AsyncHtm, Htm, errors

# What a program needs elsewhere.
PROGRAM = {
    "base_url": "http://elsewhere/base",
    "headers": {"Authorization": "Bearer program", "User-Agent": "program", "Proxy-Authorization": "Basic cA=="},
}

# The answers to the paths of streams.
STREAMS = {
    "/v1/import": httpx.Response(200, text='{"line": 1}\n'),
    "/v1/export": httpx.Response(200, text='{"kind": "end"}\n'),
    "/v1/events": httpx.Response(
        200, headers={"content-type": "text/event-stream"}, text="id: 1-0-\nevent: job.dead\ndata: {}\n\n"
    ),
}

# What is sent by two clients in turn: the path, and whether it is after a write.
SENT = [("queues", False), ("queues", True), ("import", True), ("export", True), ("events", True)]


class Servers:
    """Note what they are asked. Each says where its log stands."""

    def __init__(self) -> None:
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        if (answer := STREAMS.get(request.url.path)) is not None:
            return httpx.Response(200, headers=answer.headers, content=answer.content)
        return httpx.Response(200, json=[], headers={"HTM-WAL-Position": f"0/{ord(request.url.host[0])}"})

    def told(self) -> list[tuple[str, str, str | None, str | None]]:
        """The server, path, key and place of each request."""
        names = ("authorization", "htm-wal-position")
        return [(it.url.host, it.url.path, *(it.headers.get(name) for name in names)) for it in self.asked]


def expected() -> list[tuple[str, str, str | None, str | None]]:
    return [
        (host, f"/v1/{path}", f"Bearer key-of-{host}", f"0/{ord(host)}" if is_after else None)
        for path, is_after in SENT
        for host in ("a", "b")
    ]


def settings(http: httpx.Client | httpx.AsyncClient) -> tuple[object, ...]:
    return http.base_url, http.headers.copy(), http.params, http.auth, dict(http.cookies), http.timeout


@pytest.mark.parametrize("program", [{}, PROGRAM, {**PROGRAM, "auth": ("program", "secret")}])
def test_clients_share_an_http_client_and_nothing_else(program):
    servers = Servers()
    with httpx.Client(transport=httpx.MockTransport(servers), **program) as http:
        before = settings(http)
        both = [Htm(f"http://{host}", key=f"key-of-{host}", http=http) for host in ("a", "b")]
        for _ in range(2):
            for htm in both:
                htm.jobs.queues()
        for htm in both:
            list(htm.import_lines([{"id": "m", "text": "one"}]))
        for htm in both:
            list(htm.export_lines("atlas"))
        for htm in both:
            next(htm.events())
        assert settings(http) == before
    assert servers.told() == expected()
    assert {it.headers["user-agent"].split("/")[0] for it in servers.asked} == {"htm-memory"}
    proxy = program.get("headers", {}).get("Proxy-Authorization")
    assert {it.headers.get("proxy-authorization") for it in servers.asked} == {proxy}


@pytest.mark.parametrize("program", [{}, PROGRAM, {**PROGRAM, "auth": ("program", "secret")}])
async def test_asynchronous_clients_share_an_http_client_and_nothing_else(program):
    servers = Servers()
    async with httpx.AsyncClient(transport=httpx.MockTransport(servers), **program) as http:
        before = settings(http)
        both = [AsyncHtm(f"http://{host}", key=f"key-of-{host}", http=http) for host in ("a", "b")]
        for _ in range(2):
            for htm in both:
                await htm.jobs.queues()
        for htm in both:
            assert [it async for it in htm.import_lines([{"id": "m", "text": "one"}])]
        for htm in both:
            assert [it async for it in htm.export_lines("atlas")]
        for htm in both:
            await anext(htm.events())
        assert settings(http) == before
    assert servers.told() == expected()
    assert {it.headers["user-agent"].split("/")[0] for it in servers.asked} == {"htm-memory"}
    proxy = program.get("headers", {}).get("Proxy-Authorization")
    assert {it.headers.get("proxy-authorization") for it in servers.asked} == {proxy}


@pytest.mark.parametrize("make", [Htm, AsyncHtm])
def test_a_key_is_stripped_and_never_shown(make):
    assert make("http://a", key=" key\n")._server._headers["Authorization"] == "Bearer key"
    assert "Authorization" not in make("http://a", key="\n")._server._headers
    for key in ("htm_\nsecret", "htm_ secret", "htm_sécret", "htm_\x7fsecret"):
        with pytest.raises(errors.ApiKeyInvalid) as told:
            make("http://a", key=key)
        assert "cret" not in str(told.value)


@pytest.mark.parametrize("key", ["", " ", "a b", "a\nb", "ü", "k" * 256])
def test_an_idempotency_key_that_is_none_is_told(key):
    servers = Servers()
    with httpx.Client(transport=httpx.MockTransport(servers)) as http:
        with pytest.raises(errors.OperationInvalid, match="idempotency key"):
            Htm("http://a", http=http).memories.create("one", idempotency_key=key)
    assert servers.asked == []


@pytest.mark.parametrize("value", ["half \ud83d", ["\udc00"], {"\ud800": 1}, float("nan"), {"a": [float("-inf")]}])
def test_a_field_that_no_request_can_have_is_named(value):
    servers = Servers()
    with httpx.Client(transport=httpx.MockTransport(servers)) as http:
        htm = Htm("http://a", http=http)
        with pytest.raises(errors.BodyInvalid, match="`metadata` of the body has"):
            htm.memories.create("one", metadata={"m": value})
        if isinstance(value, str):
            with pytest.raises(errors.BodyInvalid, match="`content` of the body has half of a pair"):
                htm.memories.create(value)
            with pytest.raises(errors.PathInvalid, match="`key` of the path has half of a pair"):
                htm.memories.get_by_key(value)
            with pytest.raises(errors.QueryInvalid, match="`namespace` of the query has half of a pair"):
                htm.memories.list(namespace=value)
    assert servers.asked == []


def test_what_cannot_be_sent_is_not_sent_again():
    tried = []

    def fail(request: httpx.Request) -> httpx.Response:
        tried.append(request)
        raise (httpx.UnsupportedProtocol if request.url.scheme == "ftp" else httpx.LocalProtocolError)("no")

    with httpx.Client(transport=httpx.MockTransport(fail)) as http:
        for url in ("ftp://a", "http://a"):
            htm = Htm(url, http=http)
            for ask in (htm.jobs.queues, lambda htm=htm: next(htm.events())):
                with pytest.raises(errors.Unreachable):
                    ask()
    assert len(tried) == 4


def test_without_a_key_the_http_client_says_who_asks():
    servers = Servers()
    for program in ({"headers": {"Authorization": "Bearer program"}}, {"auth": lambda it: bearer(it, "program")}):
        with httpx.Client(transport=httpx.MockTransport(servers), **program) as http:
            Htm("http://a", http=http).jobs.queues()
            list(Htm("http://a", http=http).export_lines())
    assert {it.headers["authorization"] for it in servers.asked} == {"Bearer program"}


def bearer(request: httpx.Request, token: str) -> httpx.Request:
    request.headers["Authorization"] = f"Bearer {token}"
    return request


@pytest.mark.parametrize("url", ["https://host", "https://host/", "https://host/a%2Fb/ä", "https://host/a%2Fb/ä/"])
@pytest.mark.parametrize("base", ["", "http://elsewhere/base/"])
def test_paths_are_below_the_url(url, base):
    asked = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.raw_path.decode())
        return httpx.Response(404, json={"code": "node_not_found"})

    with httpx.Client(transport=httpx.MockTransport(answer), base_url=base, params={"tenant": "t"}) as http:
        htm = Htm(url, http=http)
        with pytest.raises(errors.NodeNotFound):
            htm.memories.get_by_key("a/b ?#%", namespace="x&y/ü +")
        with pytest.raises(errors.NodeNotFound):
            list(htm.export_lines("x&y/ü +", "z"))
    prefix = "/a%2Fb/%C3%A4" if "ä" in url else ""
    assert asked == [
        f"{prefix}/v1/memories/by-key/a%2Fb%20%3F%23%25?tenant=t&namespace=x%26y%2F%C3%BC+%2B",
        f"{prefix}/v1/export?tenant=t&namespace=x%26y%2F%C3%BC+%2B&namespace=z&forgotten=false&vectors=false",
    ]


async def test_a_url_that_is_none_goes_nowhere():
    servers = Servers()
    for url in ("", "127.0.0.1:7480", "localhost:7480", "/v1"):
        with httpx.Client(transport=httpx.MockTransport(servers), **PROGRAM) as http:
            with pytest.raises(errors.Unreachable):
                Htm(url, key="k", http=http, retries=0).jobs.queues()
            with pytest.raises(errors.Unreachable):
                list(Htm(url, key="k", http=http, retries=0).export_lines())
        async with httpx.AsyncClient(transport=httpx.MockTransport(servers), **PROGRAM) as http:
            with pytest.raises(errors.Unreachable):
                await AsyncHtm(url, key="k", http=http, retries=0).jobs.queues()
    assert servers.asked == []


def test_a_client_that_moves_leaves_others_where_they_are():
    servers = Servers()
    with httpx.Client(transport=httpx.MockTransport(servers)) as http:
        moved, other = Htm("http://a", key="k", http=http), Htm("http://a", http=http)
        moved.jobs.queues()
        moved._move_to("http://c/prefix/")
        moved.jobs.queues()
        other.jobs.queues()
    assert servers.told() == [
        ("a", "/v1/queues", "Bearer k", None),
        ("c", "/prefix/v1/queues", "Bearer k", "0/97"),
        ("a", "/v1/queues", None, None),
    ]


class Queues(BaseHTTPRequestHandler):
    """Answers that there are no queues, and keeps the connection."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"[]")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def queues_url():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Queues)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_asynchronous_client_outlives_its_event_loops(queues_url):
    htm = AsyncHtm(queues_url, retries=0)

    async def ask() -> None:
        assert await htm.jobs.queues() == []

    async def ask_and_close() -> None:
        await ask()
        await asyncio.to_thread(asyncio.run, ask())
        await ask()
        await htm.close()

    for _ in range(3):
        asyncio.run(ask())
    asyncio.run(ask_and_close())
    # Their sockets are no matter of later tests.
    gc.collect()


async def test_closing_closes_the_connections_of_other_loops(queues_url):
    htm = AsyncHtm(queues_url, retries=0)
    asked = threading.Event()

    async def ask_elsewhere() -> None:
        await htm.jobs.queues()
        [http] = htm._of_loops.values()
        asked.set()
        while not http.is_closed:
            await asyncio.sleep(0)

    elsewhere = asyncio.create_task(asyncio.to_thread(asyncio.run, ask_elsewhere()))
    await asyncio.to_thread(asked.wait, 60)
    await htm.close()
    await asyncio.wait_for(elsewhere, 60)


class ClosedMeanwhile(asyncio.AbstractEventLoop):
    """Is closed by another thread as soon as it has said that it runs."""

    def is_closed(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def call_soon_threadsafe(self, *_: object, **__: object) -> asyncio.Handle:
        raise RuntimeError("Event loop is closed")


@pytest.mark.filterwarnings("error")
async def test_closing_leaves_loops_that_were_closed_meanwhile(queues_url):
    htm = AsyncHtm(queues_url, retries=0)
    loop = ClosedMeanwhile()
    async with httpx.AsyncClient() as http:
        htm._of_loops[loop] = http
        await htm.jobs.queues()
        own = htm._http
        await htm.close()
    assert own.is_closed
