"""The servers for the tests: that at HTM_URL, and that at HTM_URL_OF_ROBOT, with a key bound to the robot `ada`."""

import json
import os
import uuid
from collections.abc import Iterable
from types import SimpleNamespace

import httpx
import pytest

from htm_memory import AsyncHtm, Htm


class Narrow(httpx.BaseTransport):
    """Passes requests on to a server whose answers and questions are small: those with larger ones are refused."""

    def __init__(self, limit: int = 10_000, namespaces: int = 10_000) -> None:
        self.passed, self.limit, self.namespaces, self.refused = httpx.HTTPTransport(), limit, namespaces, 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        asked = json.loads(request.content or "{}")
        if request.url.path in ("/v1/recall", "/v1/timeline"):
            if len(asked["filter"]["namespaces"]) > self.namespaces:
                return self.refusal("limit_out_of_range")
            if asked["limit"] > self.limit:
                return self.refusal("answer_too_large")
        return self.passed.handle_request(request)

    def refusal(self, code: str) -> httpx.Response:
        self.refused += 1
        return httpx.Response(422, json={"code": code, "detail": "", "hint": "", "title": "", "type": ""})


class Number:
    """A number of 32 bits as NumPy has it: it is no float, and JSON does not know it."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return self.value

    def __truediv__(self, other: float) -> "Number":
        return Number(self.value / other)

    def tolist(self) -> float:
        return self.value


class Array(list[Number]):
    """A vector of such numbers."""

    def __init__(self, values: Iterable[float]) -> None:
        super().__init__(map(Number, values))

    def tolist(self) -> list[float]:
        return [it.value for it in self]


class Time:
    """A time as NumPy has it: its number is one of nanoseconds."""

    dtype, ndim = SimpleNamespace(kind="M"), 0

    def __str__(self) -> str:
        return "2026-03-01T12:00:00.000000000"

    def tolist(self) -> int:
        return 1_772_366_400_000_000_000


class Times(list[Time]):
    """Times as NumPy has them."""

    dtype, ndim = Time.dtype, 1

    def tolist(self) -> list[int]:
        return [it.tolist() for it in self]


@pytest.fixture
def times():
    """Two times as NumPy has them."""
    return Times([Time(), Time()])


@pytest.fixture
def array():
    """Makes a vector as NumPy has it."""
    return Array


@pytest.fixture
def narrow(url):
    """Makes clients of such a server."""
    made = []

    def make(**limits):
        made.append(httpx.Client(transport=Narrow(**limits), timeout=60))
        return Htm(url, http=made[-1])

    yield make
    for http in made:
        http.close()


@pytest.fixture(scope="session")
def url() -> str:
    return os.environ["HTM_URL"]


@pytest.fixture
def namespace() -> str:
    """A namespace of the test."""
    return f"test/{uuid.uuid4().hex}"


@pytest.fixture
def htm(url):
    with Htm(url) as htm:
        yield htm


@pytest.fixture
async def async_htm(url):
    async with AsyncHtm(url) as htm:
        yield htm


@pytest.fixture
def htm_of_robot():
    with Htm(os.environ["HTM_URL_OF_ROBOT"], key=os.environ["HTM_KEY_OF_ROBOT"]) as htm:
        yield htm


@pytest.fixture
def htm_of_admin():
    """A client of the same server, with a key that is bound to no robot."""
    with Htm(os.environ["HTM_URL_OF_ROBOT"], key=os.environ["HTM_KEY_OF_ADMIN"]) as htm:
        yield htm


@pytest.fixture
async def async_htm_of_robot():
    async with AsyncHtm(os.environ["HTM_URL_OF_ROBOT"], key=os.environ["HTM_KEY_OF_ROBOT"]) as htm:
        yield htm
