"""Errors of the server as exceptions. Each code has a class of its own in `htm_memory.errors`."""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from typing import Any


class HtmError(Exception):
    """An error of the server, or of the way to it.

    Attributes:
        code: The stable code, such as `key_taken`.
        detail: What was wrong, with its value.
        hint: The next step.
        status: The HTTP status; None if no answer came.
        values: Values of the detail, such as the memory that has a key.
        request_id: The id of the request in the server's log.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        hint: str = "",
        status: int | None = None,
        values: Mapping[str, str] | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(f"{detail} ({code}); {hint}" if hint else f"{detail} ({code})")
        self.code = code
        self.detail = detail
        self.hint = hint
        self.status = status
        self.values = dict(values or {})
        self.request_id = request_id

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy does not call `__init__`: its parameters are not `args`, and they differ from class to class.
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class Unreachable(HtmError):
    """No server answers at the address, or its answer broke off."""

    def __init__(self, detail: str) -> None:
        super().__init__("unreachable", detail, hint="start it with `htm up`, or correct the URL")


class NoProblem(HtmError):
    """The answer is no answer of HTM: another program answers at the address."""

    def __init__(self, status: int, detail: str | None = None) -> None:
        told = detail or f"the answer is {status} without a problem of HTM"
        super().__init__("no_problem", told, status=status, hint="correct the URL")


def of_problem(problem: Mapping[str, Any], status: int, request_id: str | None) -> HtmError:
    """The exception of a problem (RFC 9457)."""
    from ._generated.errors import BY_CODE

    code = str(problem["code"])
    return BY_CODE.get(code, HtmError)(
        code,
        str(problem.get("detail", "")),
        hint=str(problem.get("hint", "")),
        status=status,
        values=problem.get("values"),
        request_id=request_id,
    )


def __getattr__(name: str) -> type[HtmError]:
    # The classes by code are made from the document of the server, and import this module.
    from ._generated import errors

    try:
        found: type[HtmError] = getattr(errors, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    return found
