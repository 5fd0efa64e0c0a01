"""The clients of a server: `Htm`, and `AsyncHtm` for asyncio."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from itertools import chain
from types import TracebackType
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakSet

import httpx

from ._generated.asynchronous import AsyncSubjects
from ._generated.synchronous import Subjects
from .calls import Answer, Attempts, Call, Server, pause
from .errors import HtmError
from .streams import (
    EVENTS,
    AsyncStream,
    Chunk,
    Event,
    ImportedLine,
    Line,
    Stream,
    before,
    each,
    exported,
    headers_of,
    in_ndjson,
    is_passing,
    line_of,
    told,
    unreachable,
)

DEFAULT_URL: Final = "http://127.0.0.1:7480"

# Waits of up to 30 s are part of a request.
TIMEOUT: Final = 70.0


class Htm(Subjects):
    """A client of a server.

    Every operation of the server is a method of its subject: `htm.memories.create("…")`, `htm.tags.merge(…)`. A call
    that fails on the way is repeated with the same `Idempotency-Key`, so that nothing is done twice.

    Args:
        url: Where the server listens. Default: `http://127.0.0.1:7480`.
        key: The key of `htm keys create`, or an access token. A server without keys needs none. White space around it
            is left out.
        retries: The most repetitions of a call that fails on the way.
        timeout: The seconds for an answer.
        http: The HTTP client to send with, for proxies, certificates and tests. It may be shared: it is neither changed
            nor closed. What it adds to requests is sent too, but `key` counts more than its own authentication. Its
            timeout is that of calls. A forked process needs another one.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        key: str | None = None,
        retries: int = 4,
        timeout: float = TIMEOUT,
        http: httpx.Client | None = None,
    ) -> None:
        super().__init__(self)
        self._given, self._timeout = http, timeout
        self._is_closed = False
        self._server = Server(url, headers_of(key))
        self._retries = retries
        self._leave_connections()
        _clients.add(self)

    def _leave_connections(self) -> None:
        """Drops the connections of the parent process, which reads their answers."""
        # Not by `close`: another thread may have held the pool's lock at the fork. The same holds for this lock.
        self._own: httpx.Client | None = None
        self._lock = threading.Lock()

    @property
    def _http(self) -> httpx.Client:
        """The HTTP client that was given, or one of its own from the first use on."""
        if self._given is not None:
            return self._given
        with self._lock:
            if self._is_closed:
                raise RuntimeError("the client is closed")
            if self._own is None:
                self._own = httpx.Client(timeout=self._timeout)
            return self._own

    def _move_to(self, url: str) -> None:
        """Sends later calls to another address, where the same memories are."""
        self._server.move_to(url)

    def close(self) -> None:
        """Closes the connections."""
        with self._lock:
            self._is_closed, own = True, self._own
        if own is not None:
            own.close()

    def __enter__(self) -> Htm:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def send(self, call: Call[Answer]) -> Answer:
        """Sends a call, and again if it fails on the way."""
        request = call.request(self._server, self._http)
        attempts = Attempts(self._retries if call.may_be_repeated else 0)
        while True:
            try:
                response = self._http.send(request, **self._server.options)
                if (wait := attempts.pause(response)) is None:
                    return self._read(call, response)
            except httpx.TransportError as error:
                if (wait := attempts.pause(error)) is None:
                    raise unreachable(request, error) from error
            time.sleep(wait)

    def _read(self, call: Call[Answer], response: httpx.Response) -> Answer:
        self._server.keep_position(response)
        return call.read(response)

    def import_lines(self, lines: Iterable[Line]) -> Iterator[ImportedLine]:
        """Imports memories, or an export: a result for each line.

        Memories are sent 500 at a time, and have their results when these are written. The lines of an export are sent
        together, at most 100,000, and their results come after the last line was read. If the source of the lines or
        the connection fails, lines may be written whose results did not come.

        Each request counts for the limits of the key and the server. Memories wait for their turn, up to 10 minutes.

        It can be sent again after an interruption: what is there already is `existing`.
        """
        given, sent = map(line_of, lines), 0
        while True:
            chunk = Chunk()
            for line in given:
                chunk.add(line)
                if chunk.is_full:
                    break
            if not chunk.content:
                return
            last = 0
            for result in self._imported(chain([chunk.content], given) if chunk.is_export else chunk.content):
                last, result.line = result.line, result.line + sent
                yield result
            if chunk.is_export or chunk.is_over(last):
                return
            sent += chunk.count()

    def _imported(self, content: bytes | Iterable[bytes]) -> Iterator[ImportedLine]:
        attempts = Attempts(self._retries, is_part=True)
        while True:
            stream = self._stream("POST", "/v1/import", content=content, headers=in_ndjson())
            try:
                with stream:
                    for line in stream.lines():
                        yield stream.made_of(ImportedLine, line)
                return
            except HtmError:
                # A source of lines cannot be read again. A refusal comes before the first result.
                wait = attempts.pause(stream.refusal) if stream.refusal and isinstance(content, bytes) else None
                if wait is None:
                    raise
            time.sleep(wait)

    def export_lines(
        self, *namespaces: str, forgotten: bool = False, vectors: bool = False
    ) -> Iterator[dict[str, Any]]:
        """Exports these namespaces, or all that the key sees, line by line. The last line says that it is whole."""
        with self._stream("GET", "/v1/export", params=exported(namespaces, forgotten, vectors)) as stream:
            for line in stream.lines():
                yield stream.made_of(dict[str, Any], line)

    def events(self, *namespaces: str, after: str | None = None) -> Iterator[Event]:
        """An endless stream of what happens: from the moment the first event is requested, or after a given event.

        Once it was connected, it reconnects as often as it has to, and misses nothing.
        """
        attempt, was_connected = 0, False
        while True:
            try:
                with self._stream("GET", "/v1/events", params=told(namespaces, after), timeout=EVENTS) as stream:
                    for event in stream.events(after):
                        attempt, was_connected, after = 0, True, event.id or None
                        if event.kind:
                            yield event
            except HtmError as error:
                if not is_passing(error) or (attempt >= self._retries and not was_connected):
                    raise
            time.sleep(pause(attempt, None))
            attempt += 1

    def _stream(self, method: str, path: str, **options: Any) -> Stream:
        request = self._server.request(self._http, method, path, **options)
        return Stream(self._http, request, self._server.options)


class AsyncHtm(AsyncSubjects):
    """As `Htm`, for asyncio: `await htm.memories.create("…")`. Several event loops may use it, in turn or at once."""

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        key: str | None = None,
        retries: int = 4,
        timeout: float = TIMEOUT,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        super().__init__(self)
        self._given, self._timeout = http, timeout
        self._server = Server(url, headers_of(key))
        self._retries = retries
        self._leave_connections()
        _clients.add(self)

    def _leave_connections(self) -> None:
        """As in `Htm`."""
        # A connection is of one loop, and frameworks change loops.
        self._of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()
        self._lock = threading.Lock()

    @property
    def _http(self) -> httpx.AsyncClient:
        """The HTTP client that was given, or that of the running loop."""
        if self._given is not None:
            return self._given
        loop = asyncio.get_running_loop()
        with self._lock:
            if (http := self._of_loops.get(loop)) is None:
                self._leave_closed_loops()
                http = self._of_loops[loop] = httpx.AsyncClient(timeout=self._timeout)
            return http

    def _leave_closed_loops(self) -> None:
        """Drops the connections of closed loops. They would keep the loops in memory."""
        for loop in [it for it in self._of_loops if it.is_closed()]:
            del self._of_loops[loop]

    async def close(self) -> None:
        """Closes this loop's connections. Other running loops close theirs soon after. Loops at rest keep theirs."""
        with self._lock:
            self._leave_closed_loops()
            of_loops = dict(self._of_loops.items())
        if (own := of_loops.pop(asyncio.get_running_loop(), None)) is not None:
            await own.aclose()
        for loop, http in of_loops.items():
            if loop.is_running():
                closing = http.aclose()
                try:
                    asyncio.run_coroutine_threadsafe(closing, loop)
                except RuntimeError:  # The loop was closed meanwhile.
                    closing.close()

    async def __aenter__(self) -> AsyncHtm:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def send(self, call: Call[Answer]) -> Answer:
        """Sends a call, and again if it fails on the way."""
        request = call.request(self._server, self._http)
        attempts = Attempts(self._retries if call.may_be_repeated else 0)
        while True:
            try:
                response = await self._http.send(request, **self._server.options)
                if (wait := attempts.pause(response)) is None:
                    return self._read(call, response)
            except httpx.TransportError as error:
                if (wait := attempts.pause(error)) is None:
                    raise unreachable(request, error) from error
            await asyncio.sleep(wait)

    def _read(self, call: Call[Answer], response: httpx.Response) -> Answer:
        self._server.keep_position(response)
        return call.read(response)

    async def import_lines(
        self, lines: Iterable[Line] | AsyncIterable[Line]
    ) -> AsyncIterator[ImportedLine]:
        """As `Htm.import_lines`."""
        given, sent = each(lines), 0
        while True:
            chunk = Chunk()
            async for line in given:
                chunk.add(line)
                if chunk.is_full:
                    break
            if not chunk.content:
                return
            last = 0
            async for result in self._imported(before(chunk.content, given) if chunk.is_export else chunk.content):
                last, result.line = result.line, result.line + sent
                yield result
            if chunk.is_export or chunk.is_over(last):
                return
            sent += chunk.count()

    async def _imported(self, content: bytes | AsyncIterable[bytes]) -> AsyncIterator[ImportedLine]:
        attempts = Attempts(self._retries, is_part=True)
        while True:
            stream = self._stream("POST", "/v1/import", content=content, headers=in_ndjson())
            try:
                async with stream:
                    async for line in stream.lines():
                        yield stream.made_of(ImportedLine, line)
                return
            except HtmError:
                # As in `Htm`.
                wait = attempts.pause(stream.refusal) if stream.refusal and isinstance(content, bytes) else None
                if wait is None:
                    raise
            await asyncio.sleep(wait)

    async def export_lines(
        self, *namespaces: str, forgotten: bool = False, vectors: bool = False
    ) -> AsyncIterator[dict[str, Any]]:
        """As `Htm.export_lines`."""
        async with self._stream("GET", "/v1/export", params=exported(namespaces, forgotten, vectors)) as stream:
            async for line in stream.lines():
                yield stream.made_of(dict[str, Any], line)

    async def events(self, *namespaces: str, after: str | None = None) -> AsyncIterator[Event]:
        """As `Htm.events`."""
        attempt, was_connected = 0, False
        while True:
            try:
                params = told(namespaces, after)
                async with self._stream("GET", "/v1/events", params=params, timeout=EVENTS) as stream:
                    async for event in stream.events(after):
                        attempt, was_connected, after = 0, True, event.id or None
                        if event.kind:
                            yield event
            except HtmError as error:
                if not is_passing(error) or (attempt >= self._retries and not was_connected):
                    raise
            await asyncio.sleep(pause(attempt, None))
            attempt += 1

    def _stream(self, method: str, path: str, **options: Any) -> AsyncStream:
        request = self._server.request(self._http, method, path, **options)
        return AsyncStream(self._http, request, self._server.options)


_clients: WeakSet[Htm | AsyncHtm] = WeakSet()


def _leave_all() -> None:
    for client in list(_clients):
        client._leave_connections()


# Windows has no forks.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_all)
