"""`Memory`: remember and recall in two lines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from ._generated import models
from .client import Htm
from .private import private_url

Filter = models.FilterBody | dict[str, Any]
"""The conditions on the memories of a recall."""


class Memory:
    """The memory of an agent.

    Without a URL it is that of `HTM_URL`, or else a private server, which is started: nothing has to be set up.

    Args:
        url: Where the server listens.
        key: The key, if the server has keys. Default: `HTM_KEY`.
        namespace: The namespace of what is remembered and recalled. Default: the server's.
        robot: The robot that remembers. Default: the server's.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        namespace: str | None = None,
        robot: str | None = None,
    ) -> None:
        url = url or os.environ.get("HTM_URL")
        # The process whose private server it uses.
        self._private_of = None if url else os.getpid()
        self._htm = Htm(url or private_url(), key=key or os.environ.get("HTM_KEY"))
        self._namespace = namespace
        self._robot = robot

    @property
    def htm(self) -> Htm:
        """The client, which has every operation of the server."""
        # The private server may have died, and another one has another address. A forked process goes on with its
        # parent's.
        if self._private_of == os.getpid():
            self._htm._move_to(private_url())
        return self._htm

    def remember(self, text: str, **fields: Any) -> models.Written:
        """Remembers a text; it is committed when this returns. The fields are those of `Htm.memories.create`."""
        return self.htm.memories.create(text, **{"namespace": self._namespace, "robot": self._robot, **fields})

    def recall(self, query: str, *, limit: int = 10, **fields: Any) -> list[models.Hit]:
        """The memories that fit a question best, the best first. The fields are those of `Htm.recall.recall`.

        A `filter` that names no namespaces is for the namespace of this memory.
        """
        fields["filter"] = self._in_namespace(fields.get("filter"))
        return self.htm.recall.recall(query=query, limit=limit, **fields).hits

    def feedback(
        self, *, used: Sequence[int] = (), useless: Sequence[int] = (), recall: str = "last"
    ) -> models.FeedbackReceipt:
        """Says which memories of a recall were used, and which were useless: by default of the last one.

        Learning must be on in the namespace.
        """
        return self.htm.learning.feedback(recall, used=list(used), useless=list(useless))

    def forget(self, node: int) -> models.Forgotten:
        """Forgets a memory; `Htm.memories.restore` brings it back."""
        forgotten = self.htm.memories.forget(node, namespace=self._namespace, robot=self._robot, confirm=True)
        assert isinstance(forgotten, models.Forgotten)
        return forgotten

    def close(self) -> None:
        """Closes the connections. A private server ends with the process."""
        # Not the property, which would start a server again.
        self._htm.close()

    def _in_namespace(self, filter: Filter | None) -> Filter | None:
        """The filter, with the namespace of this memory if it names none. The given one stays as it is."""
        if not self._namespace:
            return filter
        own = {"namespaces": [self._namespace]}
        if isinstance(filter, models.FilterBody):
            return filter if filter.namespaces else filter.model_copy(update=own)
        return filter if filter and filter.get("namespaces") else {**(filter or {}), **own}

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
