"""Where items of LangGraph are in HTM: their namespaces."""

from __future__ import annotations

from typing import TypeAlias

from langgraph.store.base import MatchCondition

Place: TypeAlias = "tuple[tuple[str, ...] | str, str]"


def namespace_of(root: str, labels: tuple[str, ...]) -> str:
    """The namespace of these labels in HTM."""
    return "/".join([root, *(_encoded(label) for label in labels)])


def labels_of(root: str, namespace: str) -> tuple[str, ...]:
    """The labels of a namespace of HTM, without the root."""
    rest = namespace[len(root) + 1 :]
    # `%25` last: `%252F` is the label `%2F`.
    return tuple(label.replace("%2F", "/").replace("%25", "%") for label in rest.split("/")) if rest else ()


def is_listed(condition: MatchCondition, labels: tuple[str, ...]) -> bool:
    """Whether the labels begin, or end, with a path."""
    path = tuple(condition.path)
    if len(labels) < len(path):
        return False
    match condition.match_type:
        case "prefix":
            compared = labels[: len(path)]
        case "suffix":
            compared = labels[len(labels) - len(path) :]
        case other:
            raise ValueError(f"Unsupported match type: {other}")
    return all(wanted in ("*", label) for wanted, label in zip(path, compared, strict=True))


def _encoded(label: str) -> str:
    return label.replace("%", "%25").replace("/", "%2F")
