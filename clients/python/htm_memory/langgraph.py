"""A store of LangGraph in HTM: `pip install htm-memory[langgraph]`.

    store = HtmStore(Htm(), index={"dims": 384, "embed": embed, "fields": ["text"]})
    graph = builder.compile(store=store)
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from math import ceil
from typing import Any, Final, TypeAlias, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    ensure_embeddings,
    get_text_at_path,
)

from ._generated import models
from ._generated.synchronous import Subjects
from .calls import Answer, Call
from .client import AsyncHtm, Htm
from .errors import AnswerTooLarge, HtmError, ModelUnknown, NodeNotFound, NotOwner
from .langgraph_filters import passes, required_fields
from .langgraph_places import Place, is_listed, labels_of, namespace_of
from .pages import Newest, chunks, halved, recency
from .robots import aact, act
from .values import fields_of, json_of, key_of, text_of

# The types of the memories of an item: the one with its key, and those of its further vectors.
HEAD: Final = "langgraph_item"
PART: Final = "langgraph_part"

# What an item is, in the metadata of its memories.
NOTE: Final = "langgraph"

# The metadata of a memory have at most 64 KiB. The text of the head of a larger item is its JSON.
MAX_NOTE: Final = 60 << 10

# The most memories and bytes of a request, the most of an answer, and the texts of a call of the embedder.
BATCH: Final = 1_000
BODY: Final = 8 << 20
MOST: Final = 10_000
TEXTS: Final = 512


@dataclass(frozen=True)
class Embed:
    """Texts to embed."""

    texts: list[str]
    is_query: bool = False


@dataclass(frozen=True)
class Change:
    """A call that changes memories. It is made with the fields that say who asks."""

    make: Callable[..., Any]


# What a step asks for: the answers to calls (None if there is no such memory, or it is another robot's), the answer to
# a change, or vectors.
Step: TypeAlias = "list[Call[Any]] | Change | Embed"
Steps: TypeAlias = "Generator[Step, list[Any], Any]"

Memory: TypeAlias = dict[str, Any]


class HtmStore(BaseStore):
    """Items of LangGraph in HTM. An item that was put is found by its key and by its vectors when `put` returns.

    Each path of `index` is a memory with its vector, and recall finds it as any other. An item is replaced in one
    transaction. What is replaced or deleted is forgotten, and can be restored until it is purged.

    Args:
        htm: The client.
        async_htm: The client of the asynchronous methods. Default: `htm`, in threads.
        index: How items are embedded. Without it, a search with a query finds nothing by meaning.
        ttl: The defaults of times to live. Expired items are not found; HTM's workers forget them.
        root: The first labels of the namespaces in HTM.
        model: The name of the model of the vectors. Stores with different embedders need different names. The first
            vector adds the model, which needs an administrator's key.
        robot: The robot that remembers, and replaces and deletes what it put. Default: the key's robot. If the key has
            none, the server's robot remembers, and items of any robot can be replaced and deleted.
    """

    supports_ttl = True

    def __init__(
        self,
        htm: Htm,
        async_htm: AsyncHtm | None = None,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        root: str = "langgraph",
        model: str | None = None,
        robot: str | None = None,
    ) -> None:
        self._htm, self._async_htm = htm, async_htm
        self._root, self._robot = root, robot
        self.ttl_config = ttl
        self.index_config = index
        self.embeddings = ensure_embeddings(index["embed"]) if index else None
        self._model = model or f"langgraph-{index['dims'] if index else 0}"
        self._fields = list((index or {}).get("fields") or ["$"])
        self._calls = Subjects(_Calls())

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        steps = self._batch(list(ops))
        try:
            step = next(steps)
            while True:
                try:
                    if isinstance(step, Embed):
                        given: list[Any] = self._embedded(step)
                    elif isinstance(step, Change):
                        given = [self._changed(step)]
                    else:
                        given = [_found(self._htm, call) for call in step]
                except HtmError as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(given)
        except StopIteration as end:
            return cast("list[Result]", end.value)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        steps = self._batch(list(ops))
        try:
            step = next(steps)
            while True:
                try:
                    if isinstance(step, Embed):
                        given: list[Any] = await self._aembedded(step)
                    elif isinstance(step, Change):
                        given = [await self._achanged(step)]
                    elif self._async_htm is None:
                        given = [await asyncio.to_thread(_found, self._htm, call) for call in step]
                    else:
                        given = list(await asyncio.gather(*(_afound(self._async_htm, call) for call in step)))
                except HtmError as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(given)
        except StopIteration as end:
            return cast("list[Result]", end.value)

    def _embedded(self, step: Embed) -> list[list[float]]:
        assert self.embeddings
        if step.is_query:
            return _floats(self.embeddings.embed_query(text) for text in step.texts)
        return _floats(self.embeddings.embed_documents(step.texts))

    async def _aembedded(self, step: Embed) -> list[list[float]]:
        assert self.embeddings
        if step.is_query:
            return _floats(await asyncio.gather(*(self.embeddings.aembed_query(text) for text in step.texts)))
        return _floats(await self.embeddings.aembed_documents(step.texts))

    def _changed(self, step: Change) -> Any:
        return act(self._htm, self._robot, lambda **who: self._htm.send(_call(step.make(**who))))

    async def _achanged(self, step: Change) -> Any:
        if (htm := self._async_htm) is None:
            return await asyncio.to_thread(self._changed, step)
        return await aact(htm, self._robot, lambda **who: htm.send(_call(step.make(**who))))

    def _batch(self, ops: list[Op]) -> Steps:
        """Reads first, then writes: an operation does not see the writes of its own batch. Of two writes to an item the
        last one counts."""
        results: list[Any] = [None] * len(ops)
        puts: dict[Place, PutOp] = {}
        gets = [(at, op) for at, op in enumerate(ops) if isinstance(op, GetOp)]
        for (at, _), item in zip(gets, (yield from self._get([op for _, op in gets])), strict=True):
            results[at] = item
        vectors = yield from self._queries(ops)
        for at, op in enumerate(ops):
            match op:
                case GetOp():
                    pass
                case SearchOp():
                    results[at] = yield from self._search(op, vectors.get(op.query or ""))
                case ListNamespacesOp():
                    results[at] = yield from self._list(op)
                case PutOp():
                    puts[op.namespace, op.key] = op
                case _:
                    raise ValueError(f"Unknown operation type: {type(op)}")
        yield from self._put(puts)
        return results

    # Reading.

    def _get(self, ops: list[GetOp]) -> Steps:
        if not ops:
            return []
        heads = yield [self._head(op.namespace, op.key) for op in ops]
        items, read = [], []
        for op, head in zip(ops, heads, strict=True):
            is_there = head is not None and _is_live(head) and NOTE in head.metadata
            if is_there and op.refresh_ttl:
                read.append(head)
            items.append(self._item(head) if is_there else None)
        yield from self._refresh(read)
        return items

    def _head(self, namespace: tuple[str, ...], key: str) -> Call[models.Node]:
        return _call(self._calls.memories.get_by_key(key_of(key), namespace=namespace_of(self._root, namespace)))

    def _item(self, node: models.Node) -> Item:
        return Item(
            value=_value(node),
            key=_key(node),
            namespace=labels_of(self._root, node.namespace),
            created_at=node.created_at,
            updated_at=node.first_remembered,
        )

    def _queries(self, ops: list[Op]) -> Steps:
        texts = list({op.query for op in ops if isinstance(op, SearchOp) and op.query})
        if not texts or not self.embeddings:
            return {}
        vectors = yield Embed(texts, is_query=True)
        return dict(zip(texts, vectors, strict=True))

    def _search(self, op: SearchOp, vector: Sequence[float] | None) -> Steps:
        prefix = op.namespace_prefix
        below = yield from self._namespaces(prefix)
        namespaces = [it for it in below if labels_of(self._root, it)[: len(prefix)] == prefix]
        wanted = op.offset + op.limit
        if not namespaces or op.limit <= 0:
            return []
        found: list[tuple[models.Node, Item, float | None]] = []
        if vector is not None and any(vector):
            for chunk in chunks(namespaces):
                found += yield from self._nearest(op, chunk, vector, wanted)
            found.sort(key=lambda it: it[2] or 0, reverse=True)
            del found[wanted:]
        if len(found) < wanted:
            # What has no vector comes last.
            known = {(item.namespace, item.key) for _, item, _ in found}
            latest: list[tuple[models.Node, Item]] = []
            for chunk in chunks(namespaces):
                latest += yield from self._latest(op, chunk, wanted - len(found), known)
            latest.sort(key=lambda it: recency(it[0]), reverse=True)
            found += [(node, item, None) for node, item in latest]
        page = found[op.offset : wanted]
        if op.refresh_ttl:
            yield from self._refresh([node for node, _, _ in page])
        return [
            SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at, score)
            for _, item, score in page
        ]

    def _namespaces(self, prefix: tuple[str, ...], depth: int | None = None) -> Steps:
        """The namespaces below a prefix, in which `*` stands for any label, in HTM."""
        found: list[str] = []
        cursor = None
        while True:
            listed = self._calls.namespaces.list(
                prefix=namespace_of(self._root, prefix), depth=depth, cursor=cursor, limit=MOST
            )
            [page] = yield [_call(listed)]
            found += page.namespaces
            cursor = page.next
            if cursor is None:
                return found

    def _nearest(self, op: SearchOp, namespaces: list[str], vector: Sequence[float], wanted: int) -> Steps:
        """The best `wanted` items, each once, by the best of its vectors."""
        filter = self._filter(namespaces, [HEAD, PART], op.filter)
        most = MOST
        limit = min(max(2 * wanted, 20), most)
        items: dict[Place, Item | None] = {}
        while True:
            recalled = self._calls.recall.recall(
                vector=vector,
                models=[f"caller/{self._model}"],
                strategy="vector",
                filter=filter,
                limit=limit,
                count_accesses=False,
            )
            try:
                [answer] = yield [_call(recalled)]
            except ModelUnknown:
                return []  # No item has a vector yet.
            except AnswerTooLarge as error:
                limit = most = halved(limit, error)
                continue
            hits = [hit for hit in answer.hits if hit.scores.similarity is not None and _is_live(hit)]
            hits.sort(key=lambda hit: hit.scores.similarity, reverse=True)
            best: dict[Place, models.Hit] = {}
            for hit in hits:
                best.setdefault(_place(hit), hit)
            yield from self._read(items, [hit for place, hit in best.items() if place not in items])
            found = [
                (hit, item, hit.scores.similarity)
                for place, hit in best.items()
                if (item := items[place]) is not None and passes(item.value, op.filter)
            ]
            if len(found) >= wanted or len(answer.hits) < limit or limit == most:
                return found[:wanted]
            limit = min(4 * limit, most)

    def _latest(self, op: SearchOp, namespaces: list[str], wanted: int, known: set[tuple[Any, str]]) -> Steps:
        """The latest `wanted` items that are not known yet."""
        filter = self._filter(namespaces, [HEAD], op.filter)
        found: list[tuple[models.Node, Item]] = []
        pages = Newest(filter, min(len(known) + wanted + 1, MOST), usual=MOST, most=MOST)
        while len(found) < wanted and not pages.is_over:
            try:
                [answer] = yield [_call(self._calls.recall.timeline(**pages.asked))]
            except AnswerTooLarge as error:
                pages.shrink(error)
                continue
            try:
                new = pages.take(answer.entries)
            except OverflowError:
                break  # More are of one time than the server reads.
            for entry in new:
                item = self._item(entry)
                if _is_live(entry) and passes(item.value, op.filter) and (item.namespace, item.key) not in known:
                    found.append((entry, item))
        return found[:wanted]

    def _read(self, items: dict[Place, Item | None], hits: list[models.Hit]) -> Steps:
        """Reads the items of hits. A part of a large item has no value: the head has it, if it is of the same put."""
        for hit in hits:
            if hit.type == HEAD or "value" in _note(hit):
                items[_place(hit)] = self._item(hit)
        rest = [hit for hit in hits if _place(hit) not in items]
        if rest:
            heads = yield [self._head(labels_of(self._root, hit.namespace), _key(hit)) for hit in rest]
            for hit, head in zip(rest, heads, strict=True):
                is_same = head is not None and head.first_remembered == hit.first_remembered
                items[_place(hit)] = self._item(head) if is_same else None

    def _filter(self, namespaces: list[str], types: list[str], given: dict[str, Any] | None) -> dict[str, Any]:
        fields = required_fields(given or {})
        metadata = {NOTE: {"fields": fields}} if fields else {}
        return {"namespaces": namespaces, "types": types, "metadata": metadata}

    def _list(self, op: ListNamespacesOp) -> Steps:
        conditions = op.match_conditions or ()
        prefixes = [tuple(it.path) for it in conditions if it.match_type == "prefix"]
        depth = None
        if op.max_depth is not None and len(prefixes) == len(conditions):
            # The server cuts, but not what the conditions are about.
            depth = len(self._root.split("/")) + max([op.max_depth, *map(len, prefixes)])
        names = yield from self._namespaces(prefixes[0] if prefixes else (), depth)
        labels = [labels_of(self._root, name) for name in names]
        listed = [it for it in labels if it and all(is_listed(condition, it) for condition in conditions)]
        if op.max_depth is not None:
            listed = [it[: op.max_depth] for it in listed]
        return sorted(set(listed))[op.offset : op.offset + op.limit]

    def _refresh(self, nodes: Sequence[models.Node]) -> Steps:
        """Starts times to live again, that of the head first: no part may be there for longer."""
        several: list[models.Node] = []
        calls: list[Call[Any]] = []
        for node in nodes:
            if node.ttl_seconds is None:
                continue
            if _note(node)["parts"]:
                several.append(node)
            else:
                calls.append(_call(self._calls.memories.refresh(node.id)))
        if several:
            found = yield [
                _call(
                    self._calls.recall.timeline(
                        filter={"namespaces": [it.namespace], "session": it.session}, limit=MOST
                    )
                )
                for it in several
            ]
            entries = [entry for timeline in found for entry in timeline.entries]
            calls += [_call(self._calls.memories.refresh(it.id)) for it in entries if it.type == HEAD]
            parts = [_call(self._calls.memories.refresh(it.id)) for it in entries if it.type == PART]
            yield calls
            calls = parts
        if calls:
            yield calls

    # Writing.

    def _put(self, puts: dict[Place, PutOp]) -> Steps:
        texts = {place: self._texts(op) for place, op in puts.items()}
        distinct = list({text for each in texts.values() for text in each})
        vectors: dict[str, list[float]] = {}
        for first in range(0, len(distinct), TEXTS):
            chunk = distinct[first : first + TEXTS]
            vectors.update(zip(chunk, (yield Embed(chunk)), strict=True))
        batch: list[tuple[dict[str, Any], list[Memory]]] = []
        memories, size = 0, 0
        for place, op in puts.items():
            replaced = {"namespace": namespace_of(self._root, op.namespace), "session": key_of(op.key)}
            written = [] if op.value is None else self._memories(op, replaced, texts[place], vectors)
            weight = sum(len(json.dumps(it)) for it in written)
            is_full = memories + len(written) > BATCH or len(batch) == BATCH or size + weight > BODY
            # A robot is one of a namespace.
            is_of_another = self._robot and batch and batch[0][0]["namespace"] != replaced["namespace"]
            if batch and (is_full or is_of_another):
                yield from self._write(batch)
                batch, memories, size = [], 0, 0
            batch.append((replaced, written))
            memories, size = memories + len(written), size + weight
        if batch:
            yield from self._write(batch)

    def _write(self, batch: list[tuple[dict[str, Any], list[Memory]]]) -> Steps:
        """Writes items in the place of what they were, in one transaction. The first vector adds its model."""
        memories = [memory for _, memories in batch for memory in memories]
        write = partial(self._calls.memories.create_many, memories, replaces=[replaced for replaced, _ in batch])
        try:
            yield Change(write)
        except ModelUnknown:
            assert self.index_config
            yield [_call(self._calls.models.add(name=self._model, dimensions=self.index_config["dims"]))]
            yield Change(write)

    def _texts(self, op: PutOp) -> list[str]:
        """The texts to embed, each once."""
        if op.value is None or op.index is False or not self.embeddings:
            return []
        paths = self._fields if op.index is None else op.index
        return list(dict.fromkeys(text for path in paths for text in get_text_at_path(op.value, path)))

    def _memories(
        self, op: PutOp, replaced: dict[str, Any], texts: list[str], vectors: dict[str, list[float]]
    ) -> list[Memory]:
        """The memories of an item: the head with the first vector, and a part for each further one."""
        exact = json_of(op.value)
        # HTM has no vector of zeros: it is near to nothing.
        indexed = [text for text in texts if any(vectors[text])]
        note: dict[str, Any] = {
            "key": json_of(op.key),
            "parts": max(len(indexed) - 1, 0),
            "fields": fields_of(op.value or {}),
            "value": exact,
        }
        if is_large := len(json.dumps(note)) > MAX_NOTE:
            del note["value"]
        made = []
        for at, text in enumerate(indexed or [""]):
            said = text_of(text)
            made.append(
                {
                    **replaced,
                    "key": replaced["session"] if at == 0 else None,
                    "type": HEAD if at == 0 else PART,
                    "content": exact if (is_large and at == 0) or not said.strip() else said,
                    "metadata": {NOTE: note},
                    "ttl_seconds": None if op.ttl is None else max(1, ceil(op.ttl * 60)),
                    "robot": self._robot,
                    "vectors": {f"caller/{self._model}": vectors[text]} if text in vectors and indexed else {},
                }
            )
        return made


class _Calls:
    """Makes the calls of the methods, and sends nothing: both clients send them."""

    def send(self, call: Call[Answer]) -> Answer:
        return cast(Answer, call)


def _call(made: Answer) -> Call[Answer]:
    return cast("Call[Answer]", made)


def _floats(vectors: Iterable[Iterable[float]]) -> list[list[float]]:
    """Vectors with numbers of Python: embedders also give arrays of NumPy."""
    return [[float(number) for number in vector] for vector in vectors]


def _found(htm: Htm, call: Call[Answer]) -> Answer | None:
    try:
        return htm.send(call)
    except (NodeNotFound, NotOwner):
        return None  # The time to live of another robot's memory is left: a read does not fail for it.


async def _afound(htm: AsyncHtm, call: Call[Answer]) -> Answer | None:
    try:
        return await htm.send(call)
    except (NodeNotFound, NotOwner):
        return None


def _note(node: models.Node) -> dict[str, Any]:
    return cast("dict[str, Any]", node.metadata[NOTE])


def _place(node: models.Node) -> tuple[str, str]:
    return node.namespace, _key(node)


def _key(node: models.Node) -> str:
    return cast(str, json.loads(_note(node)["key"]))


def _value(node: models.Node) -> dict[str, Any]:
    note = _note(node)
    return cast("dict[str, Any]", json.loads(note["value"] if "value" in note else node.content))


def _is_live(node: models.Node) -> bool:
    return node.expires_at is None or node.expires_at > datetime.now(timezone.utc)
