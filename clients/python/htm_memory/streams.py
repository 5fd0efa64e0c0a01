"""Answers that are read as they come: imports, exports and events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import httpx
from httpx_sse import EventSource, ServerSentEvent
from pydantic import BaseModel, ConfigDict

from ._generated import models
from .calls import REPEATED_STATUSES, VISIBLE, check, made_of, may_pass, plain
from .errors import ApiKeyInvalid, HtmError, Unreachable

Line = Mapping[str, Any] | str | bytes
"""A line of an import: an object, or its JSON."""

# The most lines and bytes of a request of an import, as the server writes them at a time.
CHUNK: Final = 500
MAX_CHUNK: Final = 4 << 20

# The server sends something every 15 s.
EVENTS: Final = httpx.Timeout(10.0, read=60.0)


@dataclass(frozen=True)
class Event:
    """Something that happened.

    Attributes:
        kind: What kind of event it is, such as `memory.embedded`.
        id: Its place, or that of the event before if it has none of its own; `events(after=…)` goes on there.
        data: What the kind of event says.
    """

    kind: str
    id: str
    data: dict[str, Any]


class ImportedLine(BaseModel):
    """The result of a line of an import.

    Attributes:
        line: The number of the line, from 1.
        kind: What the line was: `memory`, or a kind of line of an export.
        outcome: `written`, or `existing`: it was there already.
        node: The memory.
        problem: Why nothing was written; None if something was.
    """

    model_config = ConfigDict(extra="allow")

    line: int
    kind: str | None = None
    outcome: str | None = None
    node: int | None = None
    problem: models.Problem | None = None


class _Lines:
    """Cuts bytes at line feeds alone. Texts may have characters that `str.splitlines` takes for the end of a line."""

    def __init__(self) -> None:
        self._rest = b""

    def add(self, chunk: bytes) -> list[str]:
        *whole, self._rest = (self._rest + chunk).split(b"\n")
        return [line.decode() for line in whole]

    def end(self) -> list[str]:
        return [self._rest.decode()] if self._rest else []


class _Answer:
    _response: httpx.Response
    refusal: httpx.Response | None = None

    def made_of(self, kind: Any, line: str) -> Any:
        """What a line is."""
        return made_of(kind, line, self._response)


class Stream(_Answer):
    """An answer that is read as it comes.

    Attributes:
        refusal: The answer that has a problem instead.
    """

    def __init__(self, http: httpx.Client, request: httpx.Request, options: Mapping[str, Any]) -> None:
        self._http, self._request, self._options = http, request, options

    def __enter__(self) -> Stream:
        try:
            self._response = self._http.send(self._request, stream=True, **self._options)
        except httpx.TransportError as error:
            raise unreachable(self._request, error) from error
        try:
            if not self._response.is_success:
                self._response.read()
                self.refusal = self._response
                check(self._response)
        except BaseException:
            self._response.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._response.close()

    def lines(self) -> Iterator[str]:
        try:
            cut = _Lines()
            for chunk in self._response.iter_bytes():
                yield from cut.add(chunk)
            yield from cut.end()
        except httpx.TransportError as error:
            raise unreachable(self._request, error) from error

    def events(self, after: str | None) -> Iterator[Event]:
        try:
            for sent in EventSource(self._response).iter_sse():
                yield _event(sent, after)
        except httpx.TransportError as error:
            raise unreachable(self._request, error) from error


class AsyncStream(_Answer):
    """As `Stream`."""

    def __init__(self, http: httpx.AsyncClient, request: httpx.Request, options: Mapping[str, Any]) -> None:
        self._http, self._request, self._options = http, request, options

    async def __aenter__(self) -> AsyncStream:
        try:
            self._response = await self._http.send(self._request, stream=True, **self._options)
        except httpx.TransportError as error:
            raise unreachable(self._request, error) from error
        try:
            if not self._response.is_success:
                await self._response.aread()
                self.refusal = self._response
                check(self._response)
        except BaseException:
            await self._response.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._response.aclose()

    async def lines(self) -> AsyncIterator[str]:
        try:
            cut = _Lines()
            async for chunk in self._response.aiter_bytes():
                for line in cut.add(chunk):
                    yield line
            for line in cut.end():
                yield line
        except httpx.TransportError as error:
            raise unreachable(self._request, error) from error

    async def events(self, after: str | None) -> AsyncIterator[Event]:
        try:
            async for sent in EventSource(self._response).aiter_sse():
                yield _event(sent, after)
        except httpx.TransportError as error:
            raise unreachable(self._request, error) from error


def headers_of(key: str | None) -> dict[str, str]:
    """The headers of every request."""
    try:
        agent = f"htm-memory/{version('htm-memory')}"
    except PackageNotFoundError:
        agent = "htm-memory"
    # A file of a key ends with a line feed.
    key = (key or "").strip()
    if key and not VISIBLE.fullmatch(key):
        # Without the key, which is a secret.
        told = "the key has other than visible ASCII characters"
        raise ApiKeyInvalid("api_key_invalid", told, hint="give it as `htm keys create` printed it")
    return {"User-Agent": agent, **({"Authorization": f"Bearer {key}"} if key else {})}


def in_ndjson() -> dict[str, str]:
    return {"Content-Type": "application/x-ndjson"}


def line_of(line: Line) -> bytes:
    """A line of an import as it is sent."""
    match line:
        case bytes():
            return line.rstrip(b"\n") + b"\n"
        case str():
            # The server refuses half of a pair of surrogates: the line has a result.
            return line.rstrip("\n").encode(errors="surrogatepass") + b"\n"
        case _:
            return json.dumps(line, default=_plain).encode() + b"\n"


def _plain(value: Any) -> Any:
    made = plain(value)
    return str(value) if made is value else made


class Chunk:
    """The lines of one request of an import.

    An import takes several: HTTPX reads no answer before it has sent the whole request.

    Attributes:
        is_full: Whether it takes no more.
        is_export: Whether a line is of an export: it belongs to those after it.
    """

    def __init__(self) -> None:
        self.is_full = self.is_export = False
        self._content = bytearray()
        self._lines = 0

    def add(self, line: bytes) -> None:
        """Adds a line."""
        self._content += line
        self._lines += 1
        self.is_export = _is_of_export(line)
        self.is_full = self.is_export or self._lines == CHUNK or len(self._content) >= MAX_CHUNK

    @property
    def content(self) -> bytes:
        return bytes(self._content)

    def count(self) -> int:
        """The number of its lines as the server counts them: what was given as one may have several."""
        return self._content.count(b"\n")

    def is_over(self, line: int) -> bool:
        """Whether the server ended the import after this line: lines that are not blank follow it."""
        content = self._content.rstrip()
        return line < content.count(b"\n") + bool(content)


def _is_of_export(line: bytes) -> bool:
    if b'"kind"' not in line:
        return False
    try:
        made = json.loads(line)
    except ValueError:
        return False
    return isinstance(made, dict) and "kind" in made


async def each(lines: Iterable[Line] | AsyncIterable[Line]) -> AsyncIterator[bytes]:
    """The lines of an import as they are sent."""
    if isinstance(lines, AsyncIterable):
        async for line in lines:
            yield line_of(line)
    else:
        for line in lines:
            yield line_of(line)


async def before(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The first lines, and the rest."""
    yield first
    async for line in rest:
        yield line


def exported(namespaces: Sequence[str], forgotten: bool, vectors: bool) -> dict[str, Any]:
    """The query of an export."""
    return {"namespace": list(namespaces), "forgotten": forgotten, "vectors": vectors}


def told(namespaces: Sequence[str], after: str | None) -> dict[str, Any]:
    """The query of a stream of events."""
    return {"namespace": list(namespaces), **({"after": after} if after else {})}


def is_passing(error: HtmError) -> bool:
    """Whether a stream may go on in a moment."""
    if isinstance(error.__cause__, httpx.TransportError):
        return may_pass(error.__cause__)
    return error.status in REPEATED_STATUSES


def unreachable(request: httpx.Request, error: httpx.TransportError) -> Unreachable:
    what = str(error) or type(error).__name__
    return Unreachable(f"no whole answer from {request.url.copy_with(query=None)}: {what}")


def _event(sent: ServerSentEvent, after: str | None) -> Event:
    # The last place of this connection counts, and before there is one that after which it goes on.
    place = sent.id or after or ""
    # Without data it only tells the place.
    return Event(sent.event if sent.data else "", place, json.loads(sent.data) if sent.data else {})
