"""Who changes memories: the given robot; without one, any or that of the key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from .errors import HtmError, RobotForbidden

Answer = TypeVar("Answer")


def caller(robot: str | None) -> dict[str, Any]:
    """The fields of a call that changes memories."""
    return {"robot": robot} if robot else {"any_robot": True}


def caller_of_key(robot: str | None, error: HtmError) -> dict[str, Any]:
    """The fields after a refusal: a key that is bound to a robot does not act as any."""
    if robot:
        raise error
    # By its name it acts in every namespace of the call, otherwise in the first.
    return {"robot": error.values.get("robot")}


def act(robot: str | None, change: Callable[..., Answer]) -> Answer:
    """Changes memories as a robot; without one as any, or as that of the key."""
    try:
        return change(**caller(robot))
    except RobotForbidden as error:
        return change(**caller_of_key(robot, error))


async def aact(robot: str | None, change: Callable[..., Awaitable[Answer]]) -> Answer:
    """As `act`, for asyncio."""
    try:
        return await change(**caller(robot))
    except RobotForbidden as error:
        return await change(**caller_of_key(robot, error))
