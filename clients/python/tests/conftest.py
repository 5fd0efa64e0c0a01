"""The servers for the tests: that at HTM_URL, and that at HTM_URL_OF_ROBOT, whose key is bound to the robot `ada`."""

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


@pytest.fixture
def htm_of_robot():
    with Htm(os.environ["HTM_URL_OF_ROBOT"], key=os.environ["HTM_KEY_OF_ROBOT"]) as htm:
        yield htm


@pytest.fixture
async def async_htm_of_robot():
    async with AsyncHtm(os.environ["HTM_URL_OF_ROBOT"], key=os.environ["HTM_KEY_OF_ROBOT"]) as htm:
        yield htm
