"""Who changes memories: a key that is bound to a robot does not act as any."""

import pytest

from htm_memory import errors
from htm_memory.callers import aact, act

BOUND = errors.of_problem({"code": "robot_forbidden", "values": {"robot": "ada"}}, 403, None)


class Server:
    """Serves a key that is bound to the robot `ada`."""

    def __init__(self) -> None:
        self.asked = []

    def change(self, **who):
        self.asked.append(who)
        if who != {"robot": "ada"}:
            raise BOUND
        return "done"

    async def achange(self, **who):
        return self.change(**who)


async def test_without_a_robot_the_key_says_which_one_acts():
    server = Server()
    assert act(None, server.change) == await aact(None, server.achange) == "done"
    assert server.asked == [{"any_robot": True}, {"robot": "ada"}] * 2


async def test_another_robot_is_refused():
    server = Server()
    with pytest.raises(errors.RobotForbidden):
        act("ben", server.change)
    with pytest.raises(errors.RobotForbidden):
        await aact("ben", server.achange)
    assert server.asked == [{"robot": "ben"}] * 2
