"""The memory of CrewAI in HTM: `pip install htm-memory[crewai]`.

    memory = Memory(storage=HtmStorage(Htm()))
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from functools import partial
from heapq import merge
from itertools import chain, islice, product
from typing import Any, Final

from crewai.memory.storage.backend import EmbeddingDimensionMismatchError
from crewai.memory.types import MemoryRecord, ScopeInfo

from ._generated import models
from .client import Htm
from .crewai_records import (
    ACCESSED,
    NOTE,
    TYPE,
    Vector,
    Wanted,
    label_of,
    least_distance,
    memory_of,
    names_of,
    namespace_of,
    record_of,
    scaled,
    scope_of,
    utc,
)
from .errors import AnswerTooLarge, KeyTaken, ModelUnknown, NodeNotFound, NotOwner, RevisionConflict
from .messages import BATCH, batches
from .pages import Newest, chunks, halved, recency
from .robots import act
from .values import key_of

# The memory with the length of the vectors. The keys of records begin with another sign.
DIMENSIONS: Final = "dimensions"

# The usual and the most memories of an answer. One may have 20 KiB.
PAGE: Final = 200
MOST: Final = 10_000

ANY: Final = Wanted()

# How often a change is tried again because others change the same records.
ATTEMPTS: Final = 20


class HtmStorage:
    """Records of CrewAI's `Memory`. A record is found by its vector when `save` returns.

    A scope is a namespace, so it has what is below it by whole names: `/a` has `/a/b`, and not `/ab`. A record that is
    saved again in its scope takes the place of what it was; `update` also moves it. What is replaced or deleted is
    forgotten, and can be restored until it is purged.

    Args:
        htm: The client. The first vector adds the model `caller/crewai-<dimensions>`, for an administrator's key.
        namespace: The namespace of the scope `/`.
        robot: The robot that remembers, and changes what it saved. Default: the key's robot. If the key has none, the
            server's robot remembers, and records of any robot can be changed.
    """

    def __init__(self, htm: Htm, *, namespace: str = "crewai", robot: str | None = None) -> None:
        self._htm, self._root, self._robot = htm, namespace, robot
        # Where searches found records, by their ids: the memory and its namespace.
        self._found: dict[str, tuple[int, str]] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> HtmStorage:
        # A copy of a crew has the same memory.
        return self

    # Writing.

    def save(self, records: list[MemoryRecord]) -> None:
        """Saves records: up to 1,000 in one transaction."""
        self._agree(records)
        # Of a record that is given twice the last one counts.
        distinct = {(namespace_of(self._root, record.scope), record.id): record for record in records}
        for batch in batches(memory_of(record, self._root, self._robot) for record in distinct.values()):
            self._write(batch, [{"namespace": it["namespace"], "session": it["session"]} for it in batch])

    def update(self, record: MemoryRecord) -> None:
        """Puts a record in the place of that with its id, in whatever scope that is."""
        self._agree([record])
        memory = memory_of(record, self._root, self._robot)
        for attempt in range(1, ATTEMPTS + 1):
            there: dict[str, list[int]] = {memory["namespace"]: []}
            for node in self._find([record.id]):
                there.setdefault(node.namespace, []).append(node.id)
            places = [{"namespace": it, "session": memory["session"], "expected": there[it]} for it in there]
            try:
                return self._write([memory], places)
            except RevisionConflict:
                if attempt == ATTEMPTS:
                    raise

    def touch_records(self, record_ids: list[str]) -> None:
        """Notes that records were recalled now. CrewAI calls it after each recall."""
        # A record may have been replaced since it was found.
        found = self._found
        rest = [it for it in dict.fromkeys(record_ids) if it not in found or not self._touch(*found[it])]
        for node in self._find(rest) if rest else []:
            self._touch(node.id, node.namespace)

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Deletes the records that meet all conditions. Returns their number."""
        deleted = 0
        for attempt in range(1, ATTEMPTS + 1):
            found = self._matching(scope_prefix, Wanted(categories, metadata_filter), record_ids, older_than)
            places = ({"namespace": it.namespace, "session": it.session, "expected": [it.id]} for it, _ in found)
            try:
                while batch := list(islice(places, BATCH)):
                    self._write([], batch)
                    deleted += len(batch)
                break
            except RevisionConflict:
                # Another call replaced or deleted one of them.
                if attempt == ATTEMPTS:
                    raise
        return deleted

    def reset(self, scope_prefix: str | None = None) -> None:
        """Deletes the records of a scope, or all: then the next vectors may have another length."""
        self.delete(scope_prefix)
        if not names_of(scope_prefix):
            self._write([], [{"namespace": self._root, "session": DIMENSIONS}])

    # Reading.

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """The nearest records, with the score of CrewAI's own storage: 1 / (1 + the square of the distance). A record
        without a vector has no distance, and is not found."""
        if len(self._found) > MOST:
            self._found = {}
        namespaces = self._namespaces(scope_prefix)
        found: dict[int, tuple[float, MemoryRecord]] = {}
        if namespaces and limit > 0 and any(query_embedding):
            wanted = Wanted(categories, metadata_filter)
            # Vectors of length 1 have the same order by distance as by angle. For others, more results are read.
            for chunk, note, is_unit in product(chunks(namespaces), wanted.notes(), (True, False)):
                filter = self._filter(chunk, {**note, "is_unit": is_unit})
                found |= self._nearest(query_embedding, filter, wanted, limit, is_unit)
        if not found and (length := self._dimensions()) and length != len(query_embedding):
            raise EmbeddingDimensionMismatchError(length, len(query_embedding))
        nearest = sorted(found.items(), key=lambda item: (item[1][0], item[0]))[: max(limit, 0)]
        scored = [(record, 1 / (1 + distance)) for _, (distance, record) in nearest]
        return [(record, score) for record, score in scored if score >= min_score]

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """The record with an id."""
        return next(map(record_of, self._find([record_id])), None)

    def list_records(self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0) -> list[MemoryRecord]:
        """The records of a scope, the newest first."""
        if limit <= 0 or offset < 0:
            return []
        nodes = self._newest(self._filter(self._namespaces(scope_prefix)), min(PAGE, offset + limit))
        return [record_of(node) for node in islice(nodes, offset, offset + limit)]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """What a scope has. Its records are read, a page at a time, as for `list_categories` and `count`."""
        info = ScopeInfo(path=scope.rstrip("/") or "/", child_scopes=self.list_scopes(scope))
        categories: set[str] = set()
        for _, record in self._matching(scope):
            info.record_count += 1
            categories.update(record.categories)
            info.newest_record = max(info.newest_record or record.created_at, record.created_at, key=utc)
            info.oldest_record = min(info.oldest_record or record.created_at, record.created_at, key=utc)
        info.categories = sorted(categories)
        return info

    def list_scopes(self, parent: str = "/") -> list[str]:
        """The scopes right below one."""
        level = len(names_of(parent)) + 1
        found = (scope_of(self._root, namespace) for namespace in self._namespaces(parent, level))
        return sorted("/" + "/".join(names) for names in found if len(names) == level)

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """The categories of a scope, each with the number of its records."""
        found = self._matching(scope_prefix)
        return dict(Counter(name for _, record in found for name in dict.fromkeys(record.categories)))

    def count(self, scope_prefix: str | None = None) -> int:
        """The number of the records of a scope."""
        return sum(1 for _ in self._matching(scope_prefix))

    # For asyncio, in threads.

    async def asave(self, records: list[MemoryRecord]) -> None:
        """As `save`."""
        await asyncio.to_thread(self.save, records)

    async def asearch(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """As `search`."""
        given = (query_embedding, scope_prefix, categories, metadata_filter, limit, min_score)
        return await asyncio.to_thread(self.search, *given)

    async def adelete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """As `delete`."""
        given = (scope_prefix, categories, record_ids, older_than, metadata_filter)
        return await asyncio.to_thread(self.delete, *given)

    # Vectors.

    def _agree(self, records: Iterable[MemoryRecord]) -> None:
        """Notes the length of the vectors, if it is not noted yet. Of several callers at once one notes it."""
        lengths = list(dict.fromkeys(len(record.embedding) for record in records if record.embedding))
        if len(lengths) > 1:
            raise EmbeddingDimensionMismatchError(*lengths[:2])
        for length in lengths:
            try:
                self._htm.memories.create(
                    f"The vectors of CrewAI's records have {length} numbers.",
                    key=DIMENSIONS,
                    session=DIMENSIONS,
                    metadata={NOTE: length},
                    namespace=self._root,
                    robot=self._robot,
                )
            except KeyTaken as error:
                raise EmbeddingDimensionMismatchError(self._dimensions() or 0, length) from error

    def _dimensions(self) -> int | None:
        try:
            return int(self._htm.memories.get_by_key(DIMENSIONS, namespace=self._root).metadata[NOTE])
        except NodeNotFound:
            return None

    def _nearest(
        self, query: Vector, filter: dict[str, Any], wanted: Wanted, limit: int, is_unit: bool
    ) -> dict[int, tuple[float, MemoryRecord]]:
        """The nearest records by the numbers of their memories, each with the square of its distance."""
        # HTM compares halves, so the last ones may change places. The distances are those of the whole vectors.
        most = MOST
        read = min(2 * limit + 10, most)
        while True:
            try:
                answer = self._htm.recall.recall(
                    vector=scaled(query),
                    models=[label_of(query)],
                    strategy="vector",
                    filter=filter,
                    limit=read,
                    count_accesses=False,
                )
            except ModelUnknown:
                return {}  # No record has a vector of this length.
            except AnswerTooLarge as error:
                read = most = halved(read, error)
                continue
            found = []
            for hit in answer.hits:
                record = record_of(hit)
                if record.embedding and wanted.has(record):
                    found.append((math.dist(query, record.embedding) ** 2, hit.id, record))
                    self._found[record.id] = (hit.id, hit.namespace)
            found.sort(key=lambda item: item[:2])
            nearest = {node: (distance, record) for distance, node, record in found[:limit]}
            if len(answer.hits) < read or read == most:
                return nearest
            cosine = min(hit.scores.similarity or 0 for hit in answer.hits)
            if len(nearest) == limit and found[limit - 1][0] <= least_distance(query, cosine, is_unit):
                return nearest
            read = min(4 * read, most)

    # Memories.

    def _namespaces(self, scope: str | None, level: int | None = None) -> list[str]:
        """The namespaces of a scope and of those below it, cut to a level of scopes."""
        prefix = namespace_of(self._root, scope)
        depth = None if level is None else self._root.count("/") + 1 + level
        found: set[str] = set()
        cursor = None
        while True:
            page = self._htm.namespaces.list(prefix=prefix, depth=depth, cursor=cursor, limit=MOST)
            # In a prefix the label `*` stands for any.
            found.update(it for it in page.namespaces if f"{it}/".startswith(f"{prefix}/"))
            if not (cursor := page.next):
                return sorted(found)

    def _filter(self, namespaces: list[str], note: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        return {"namespaces": namespaces, "types": [TYPE], "metadata": {NOTE: note} if note else {}, **more}

    def _find(self, record_ids: Iterable[str], scope: str | None = None, **more: Any) -> Iterator[models.Node]:
        """The memories of the records with these ids."""
        namespaces = self._namespaces(scope)
        for record_id in dict.fromkeys(record_ids):
            yield from self._newest(self._filter(namespaces, session=key_of(record_id), **more), PAGE)

    def _matching(
        self,
        scope: str | None,
        wanted: Wanted = ANY,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
    ) -> Iterator[tuple[models.Node, MemoryRecord]]:
        """The records that meet all conditions, each once, with their memories."""
        before = {} if older_than is None else {"timeframe": f"..{utc(older_than).isoformat()}"}
        if record_ids is not None:
            found = self._find(record_ids, scope, **before)
        else:
            # Of several namespaces at once the server reads a page of each.
            places = product(self._namespaces(scope), wanted.notes())
            filters = (self._filter([namespace], note, **before) for namespace, note in places)
            found = chain.from_iterable(self._newest(filter, PAGE) for filter in filters)
        seen: set[int] = set()
        for node in found:
            if node.id not in seen and wanted.has(record := record_of(node)):
                seen.add(node.id)
                yield node, record

    def _newest(self, filter: dict[str, Any], page: int) -> Iterator[models.Node]:
        """The memories of a filter, the newest first, a page at a time."""
        filters = ({**filter, "namespaces": chunk} for chunk in chunks(filter["namespaces"]))
        return merge(*(self._newest_of(it, page) for it in filters), key=recency, reverse=True)

    def _newest_of(self, filter: dict[str, Any], page: int) -> Iterator[models.Node]:
        pages = Newest(filter, page, usual=PAGE, most=MOST)
        while not pages.is_over:
            try:
                entries = self._htm.recall.timeline(**pages.asked).entries
            except AnswerTooLarge as error:
                pages.shrink(error)
            else:
                yield from pages.take(entries)

    def _touch(self, node: int, namespace: str) -> bool:
        now = datetime.now(timezone.utc).replace(tzinfo=None).isoformat()
        edit = partial(self._htm.memories.edit, node, metadata={ACCESSED: now}, namespace=namespace)
        try:
            act(self._htm, self._robot, edit)
        except NodeNotFound:
            return False
        except NotOwner:
            pass  # another robot's record
        return True

    def _write(self, memories: list[dict[str, Any]], places: list[dict[str, Any]]) -> None:
        """Writes memories in the places of others, in one transaction. The first vector adds its model."""
        write = partial(self._htm.memories.create_many, memories, replaces=places)
        try:
            act(self._htm, self._robot, write)
        except ModelUnknown:
            label, vector = next(item for memory in memories for item in memory["vectors"].items())
            self._htm.models.add(name=label.removeprefix("caller/"), dimensions=len(vector))
            act(self._htm, self._robot, write)
