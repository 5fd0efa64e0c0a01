"""A call of the server: its request, its retries, and what is made of its answer."""

from __future__ import annotations

import json
import random
import re
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, Final, Generic, Protocol, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from .errors import (
    BodyInvalid,
    HtmError,
    NoProblem,
    OperationInvalid,
    PathInvalid,
    QueryInvalid,
    Unreachable,
    of_problem,
)

Answer = TypeVar("Answer")

# The key or the server has no room for another request in this moment.
LIMITED: Final = 429

# The server could not take the request, or the connection failed: nothing is done, or a key makes a repetition safe.
REPEATED_STATUSES: Final = frozenset({408, LIMITED, 502, 503, 504})

# The request cannot be sent: it would fail again.
NOT_SENT: Final = (httpx.LocalProtocolError, httpx.UnsupportedProtocol)

# The characters that a header can carry and the server accepts in a key.
VISIBLE: Final = re.compile("[!-~]+")

MAX_OPERATION: Final = 255

# The first request with the same key is still in hand. Its answer is waited for, which is no repetition.
OPEN: Final = "operation_open"

# The seconds for which it is.
OPEN_FOR: Final = 600.0

MAX_PAUSE: Final = 30.0

POSITION: Final = "HTM-WAL-Position"


class Unset(Enum):
    """Marks a field that is not given, where None says that a value is removed."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET


class Server:
    """Where calls go, and what all of them have. The HTTP client that sends them may be shared, and stays as it is.

    Args:
        url: Where the server listens.
        headers: The headers of every request.
    """

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._headers = httpx.Headers(headers)
        self.move_to(url)
        # The authentication of the HTTP client would take the place of the key.
        self.options: Final[dict[str, Any]] = {"auth": httpx.Auth()} if "Authorization" in self._headers else {}
        # The robot that the key is bound to, once a refusal has named it.
        self.robot: str | None = None

    def move_to(self, url: str) -> None:
        """Sends later requests to another address."""
        self._url = httpx.URL(url)

    def request(
        self,
        http: httpx.Client | httpx.AsyncClient,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        **options: Any,
    ) -> httpx.Request:
        """A request to a path of the server."""
        own = self._headers.copy()
        own.update(headers)
        return http.build_request(method, self._at(path), headers=own, **options)

    def _at(self, path: str) -> httpx.URL:
        if self._url.is_relative_url:
            # The HTTP client would take it for a path of its own server.
            raise Unreachable(f"`{self._url}` is no URL of a server: it has no `http://` or `https://`")
        base = self._url.copy_with(query=None, fragment=None)
        return base.copy_with(raw_path=base.raw_path.rstrip(b"/") + path.encode())

    def keep_robot(self, robot: str | None) -> None:
        """Lets later changes name the robot of the key, until the client is made anew. A given HTTP client may send
        another key with each request."""
        if "Authorization" in self._headers:
            self.robot = robot

    def keep_position(self, response: httpx.Response) -> None:
        """Lets later reads see what was written: a server with read replicas says where a write stands in its log."""
        position = response.headers.get(POSITION)
        if position and _place(position) > _place(self._headers.get(POSITION, "0/0")):
            self._headers[POSITION] = position


@dataclass(frozen=True)
class Call(Generic[Answer]):
    """A request, and the type of its answer."""

    method: str
    template: str
    answer: Any
    path: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    if_revision: int | None = None
    takes_key: bool = False
    idempotency_key: str | None = None
    keeps_null: bool = False
    may_be_repeated: bool = True

    def request(self, server: Server, http: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        """The request. Its retries are the same request, with the same key."""
        headers = {}
        if self.takes_key:
            headers["Idempotency-Key"] = self._operation()
        if self.if_revision is not None:
            headers["If-Match"] = f'"{self.if_revision}"'
        body = self._given()
        query: list[tuple[str, str | int | float | bool | None]]
        query = [(name, _text(it)) for name, value in self.query.items() if value is not None for it in _each(value)]
        try:
            path = self.template.format(**{name: _part(value) for name, value in self.path.items()})
            made = to_jsonable_python(body)
            return server.request(http, self.method, path, params=query, json=made, headers=headers)
        except ValueError as error:
            if (unfit := self._unfit(body)) is None:
                raise
            raise unfit from error

    def _operation(self) -> str:
        if (key := self.idempotency_key) is None:
            return str(uuid.uuid4())
        if not VISIBLE.fullmatch(key) or len(key) > MAX_OPERATION:
            told = f"the idempotency key {key[:50]!r} is not 1 to {MAX_OPERATION} visible ASCII characters"
            raise OperationInvalid("operation_invalid", told, hint="use a UUID")
        return key

    def _unfit(self, body: Any) -> HtmError | None:
        """The error of the first field that no request can have."""
        places = (PathInvalid, "path", self.path), (QueryInvalid, "query", self.query), (BodyInvalid, "body", body)
        for kind, place, fields in places:
            for name, value in (fields or {}).items():
                if why := _unsendable(value):
                    return kind(f"{place}_invalid", f"`{name}` of the {place} has {why}", hint="remove or replace it")
        return None

    def _given(self) -> Any:
        if self.body is None:
            return None
        given = {
            name: value
            for name, value in self.body.items()
            if value is not UNSET and (value is not None or self.keeps_null)
        }
        return _dumped(given)

    def read(self, response: httpx.Response) -> Answer:
        """The answer, or the exception of its problem."""
        check(response)
        made: Answer = made_of(self.answer, response.content, response)
        return made


class Sender(Protocol):
    """Sends calls."""

    def send(self, call: Call[Answer]) -> Answer: ...


class AsyncSender(Protocol):
    """Sends calls."""

    async def send(self, call: Call[Answer]) -> Answer: ...


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def made_of(kind: Any, text: str | bytes, response: httpx.Response) -> Any:
    """What the JSON of an answer, or of a line of it, is."""
    try:
        return adapter(kind).validate_json(text)
    except ValidationError as error:
        # Without the answer: it may have memories.
        [first, *_] = error.errors(include_url=False, include_context=False, include_input=False)
        place = ".".join(map(str, first["loc"]))
        told = f"the answer is not what HTM answers: {place + ': ' if place else ''}{first['msg']}"
        raise NoProblem(response.status_code, told) from None


def check(response: httpx.Response) -> None:
    """Raises the exception of a problem."""
    if response.is_success:
        return
    try:
        problem = response.json()
    except ValueError:
        problem = None
    if not (isinstance(problem, dict) and "code" in problem):
        raise NoProblem(response.status_code)
    raise of_problem(problem, response.status_code, response.headers.get("x-request-id"))


def _unsendable(value: Any) -> str | None:
    """What a value has that neither JSON nor a URL can have."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False, skipkeys=True, default=str).encode()
    except UnicodeEncodeError:
        return "half of a pair of surrogates, which is no character"
    except ValueError:
        return "a number that is not finite"
    return None


def _place(position: str) -> list[int]:
    return [int(half, 16) for half in position.split("/")]


def may_pass(outcome: httpx.Response | httpx.TransportError) -> bool:
    """Whether the same request may succeed in a moment."""
    if isinstance(outcome, httpx.Response):
        return outcome.status_code in REPEATED_STATUSES
    return not isinstance(outcome, NOT_SENT)


def pause(attempt: int, failure: httpx.Response | None) -> float:
    """The seconds before the next attempt: what the server asks for, or twice as long each time, partly at random."""
    if failure is not None and (asked := failure.headers.get("retry-after", "")).isdigit():
        return min(float(asked), MAX_PAUSE)
    return min(0.1 * float(2 ** min(attempt, 10)), MAX_PAUSE) * random.uniform(0.5, 1.0)


class Attempts:
    """The attempts of a call.

    Args:
        repetitions: The most repetitions.
        is_part: Whether it is a part of a longer work: a limit of requests is waited for, which is no repetition.
    """

    def __init__(self, repetitions: int, *, is_part: bool = False) -> None:
        self._repetitions, self._is_part = repetitions, is_part
        self._repeated = self._waited = 0
        self._wait_until = time.monotonic() + OPEN_FOR

    def pause(self, outcome: httpx.Response | httpx.TransportError) -> float | None:
        """The seconds before the next attempt after an answer or a failure; `None`: there is no other attempt."""
        response = outcome if isinstance(outcome, httpx.Response) else None
        if response is not None and self._is_waited_for(response) and time.monotonic() < self._wait_until:
            self._waited += 1
            return pause(self._waited - 1, response)
        if self._repeated >= self._repetitions or not may_pass(outcome):
            return None
        self._repeated += 1
        return pause(self._repeated - 1, response)

    def _is_waited_for(self, response: httpx.Response) -> bool:
        return _is_open(response) or (self._is_part and response.status_code == LIMITED)


def _is_open(response: httpx.Response) -> bool:
    if response.status_code != 409:
        return False
    try:
        check(response)
    except HtmError as error:
        return error.code == OPEN
    return False


def _part(value: Any) -> str:
    """A part of a path. A URL resolves dots, even encoded ones: the request would go to another path."""
    text = _text(value)
    if text in ("", ".", ".."):
        raise ValueError(f"a path cannot have the part `{text}`")
    return quote(text, safe="")


def _each(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple, set, frozenset)) else [value]


def _text(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat()
        case _:
            return str(value)


def _dumped(value: Any) -> Any:
    """A value whose models have only what was given: null is not the same as nothing."""
    match value:
        case BaseModel():
            return value.model_dump(mode="json", exclude_unset=True, by_alias=True)
        case Mapping():
            return {name: _dumped(part) for name, part in value.items()}
        case list() | tuple():
            return [_dumped(part) for part in value]
        case _:
            return plain(value)


def plain(value: Any) -> Any:
    """The lists, numbers and texts of an array or a value of NumPy, which JSON does not know; else the value."""
    if not hasattr(value, "tolist"):
        return value
    # `tolist` would turn times into numbers of nanoseconds.
    if getattr(getattr(value, "dtype", None), "kind", None) in ("M", "m"):
        return [plain(it) for it in value] if value.ndim else str(value)
    return _dumped(value.tolist())
