"""A server for the tests: that at HTM_URL."""

import os
import uuid

import pytest

from htm_memory import AsyncHtm, Htm


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
