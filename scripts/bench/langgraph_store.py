"""LangGraph: `PostgresStore` of the package langgraph-checkpoint-postgres, with its index by pgvector."""

import contextlib

from bench.data import ASKED_FOR, DIMENSIONS, user_of

BATCH = 500


class LangGraph:
    name = "LangGraph"

    def __init__(self, url, workload):
        self.url, self._workload = url, workload
        embed = lambda texts: [workload.embed(text) for text in texts]  # noqa: E731
        self._index = {"dims": DIMENSIONS, "embed": embed, "fields": ["text"]}
        with self._store() as store:
            store.setup()

    def _store(self):
        from langgraph.store.postgres import PostgresStore

        return PostgresStore.from_conn_string(self.url, index=self._index)

    def load(self, numbers):
        from langgraph.store.base import PutOp

        numbers = list(numbers)
        with self._store() as store:
            for first in range(0, len(numbers), BATCH):
                batch = numbers[first:first + BATCH]
                store.batch([PutOp(("users", user_of(n)), str(n), {"text": self._workload.texts[n]}) for n in batch])

    @contextlib.contextmanager
    def client(self):
        # Each its own: the threads of one store wait for one another.
        with self._store() as store:
            yield Client(store, self._workload)


class Client:
    def __init__(self, store, workload):
        self._store, self._workload = store, workload

    def write(self, number, user):
        self._store.put(("users", user), str(number), {"text": self._workload.texts[number]})

    def search(self, question):
        found = self._store.search(("users", question.user), query=question.text, limit=ASKED_FOR)
        return [int(item.key) for item in found]
