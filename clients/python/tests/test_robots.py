"""Who changes memories: a key that is bound to a robot does not act as any."""

import json

import httpx
import pytest

from htm_memory import AsyncHtm, Htm, errors
from htm_memory.robots import aact, act


class Server:
    """Serves a key that is bound to a robot."""

    def __init__(self) -> None:
        self.robot, self.asked = "ada", []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        who = json.loads(request.content)
        self.asked.append(who)
        if who == {"robot": self.robot}:
            return httpx.Response(200, json={"node": 7, "revision": 1, "changed": [], "jobs": 0, "superseded": 0})
        return httpx.Response(403, json={"code": "robot_forbidden", "values": {"robot": self.robot}})

    def client(self, **options) -> Htm:
        return Htm(http=httpx.Client(transport=httpx.MockTransport(self)), **options)

    def async_client(self, **options) -> AsyncHtm:
        return AsyncHtm(http=httpx.AsyncClient(transport=httpx.MockTransport(self)), **options)


async def change(htm: Htm | AsyncHtm, robot: str | None = None) -> None:
    def edit(**who):
        return htm.memories.edit(7, **who)

    await aact(htm, robot, edit) if isinstance(htm, AsyncHtm) else act(htm, robot, edit)


@pytest.fixture
def server():
    return Server()


@pytest.fixture(params=[Server.client, Server.async_client])
def client(request, server):
    """Makes clients of the server."""
    return lambda **options: request.param(server, **options)


async def test_without_a_robot_the_key_says_once_which_one_acts(server, client):
    htm = client(key="k")
    for _ in range(3):
        await change(htm)
    assert server.asked == [{"any_robot": True}] + [{"robot": "ada"}] * 3
    # Another client may have another key.
    await change(client(key="k"))
    assert server.asked[4:] == [{"any_robot": True}, {"robot": "ada"}]


async def test_a_client_learns_another_robot_of_its_key(server, client):
    htm = client(key="k")
    await change(htm)
    server.robot = "ben"
    for _ in range(2):
        await change(htm)
    assert server.asked[2:] == [{"robot": "ada"}, {"robot": "ben"}, {"robot": "ben"}]


async def test_the_robot_of_a_key_of_the_http_client_is_asked_for_each_time(server, client):
    htm = client()
    for _ in range(2):
        await change(htm)
    assert server.asked == [{"any_robot": True}, {"robot": "ada"}] * 2


async def test_another_robot_is_refused(server, client):
    htm = client(key="k")
    await change(htm)
    with pytest.raises(errors.RobotForbidden):
        await change(htm, "ben")
    assert server.asked[2:] == [{"robot": "ben"}]
