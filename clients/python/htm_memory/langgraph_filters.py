"""The filters of LangGraph's stores."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, Final

from .values import is_plain

ORDERS: Final = {"$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt, "$lte": operator.le}


def passes(value: Mapping[str, Any], filter: Mapping[str, Any] | None) -> bool:
    """Whether a value meets all conditions. A field that is missing is null."""
    return all(_meets(value.get(name), wanted) for name, wanted in (filter or {}).items())


def required_fields(filter: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that an item needs to meet the conditions, as far as the server can compare them."""
    required = {}
    for name, wanted in filter.items():
        if isinstance(wanted, Mapping):
            wanted = wanted.get("$eq")
        # A field that is missing is null too.
        if wanted is not None and is_plain(name) and is_plain(wanted):
            required[name] = wanted
    return required


def _meets(value: Any, wanted: Any) -> bool:
    match wanted:
        case Mapping() if any(name.startswith("$") for name in wanted):
            return all(_compares(value, name, bound) for name, bound in wanted.items())
        case Mapping():
            return isinstance(value, Mapping) and all(_meets(value.get(name), it) for name, it in wanted.items())
        case list() | tuple():
            return (
                isinstance(value, (list, tuple))
                and len(value) == len(wanted)
                and all(_meets(part, it) for part, it in zip(value, wanted, strict=True))
            )
        case _:
            return _is_same(value, wanted)


def _compares(value: Any, name: str, bound: Any) -> bool:
    match name:
        case "$eq":
            return _is_same(value, bound)
        case "$ne":
            return not _is_same(value, bound)
        case _ if name in ORDERS:
            # Numbers are compared as numbers, texts as texts, and nothing else.
            is_ordered = (_is_number(value) and _is_number(bound)) or (
                isinstance(value, str) and isinstance(bound, str)
            )
            return is_ordered and bool(ORDERS[name](value, bound))
        case _:
            raise ValueError(f"Unsupported operator: {name}")


def _is_same(value: Any, other: Any) -> bool:
    """Whether two values are the same JSON: true is not 1."""
    match value, other:
        case (bool(), _) | (_, bool()):
            return value is other
        case (Mapping(), Mapping()):
            return value.keys() == other.keys() and all(_is_same(value[name], other[name]) for name in value)
        case (list() | tuple(), list() | tuple()):
            return len(value) == len(other) and all(_is_same(a, b) for a, b in zip(value, other, strict=True))
        case _:
            return bool(value == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
