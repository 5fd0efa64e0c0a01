"""Who changes memories: the given robot. Without one it is the key's robot, or any robot if the key has none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from .client import AsyncHtm, Htm
from .errors import HtmError, RobotForbidden

Answer = TypeVar("Answer")


def _who(htm: Htm | AsyncHtm, robot: str | None) -> dict[str, Any]:
    """The fields of a call that changes memories."""
    robot = robot or htm._server.robot
    return {"robot": robot} if robot else {"any_robot": True}


def _who_of_key(htm: Htm | AsyncHtm, robot: str | None, error: HtmError) -> dict[str, Any]:
    """The fields after a refusal: a key that is bound to a robot does not act as any."""
    if robot:
        raise error
    bound = error.values.get("robot")
    htm._server.keep_robot(bound)
    # A robot that is named acts in every namespace of a call. One that is not named acts in the first only.
    return {"robot": bound}


def act(htm: Htm, robot: str | None, change: Callable[..., Answer]) -> Answer:
    """Changes memories as a robot. Without one, as the key's robot, or as any robot if the key has none."""
    try:
        return change(**_who(htm, robot))
    except RobotForbidden as error:
        return change(**_who_of_key(htm, robot, error))


async def aact(htm: AsyncHtm, robot: str | None, change: Callable[..., Awaitable[Answer]]) -> Answer:
    """As `act`, for asyncio."""
    try:
        return await change(**_who(htm, robot))
    except RobotForbidden as error:
        return await change(**_who_of_key(htm, robot, error))
