"""mem0: `Memory` of the package mem0ai with its store of pgvector, without a language model (`infer=False`)."""

import contextlib
import hashlib
import logging
import os
import uuid

from bench.data import ASKED_FOR, DIMENSIONS, user_of

BATCH = 500


class Mem0:
    name = "mem0"

    def __init__(self, url, folder, workload, clients):
        # It would report each use, and keep a file in the home directory.
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder / "mem0"))
        logging.getLogger("mem0").setLevel(logging.CRITICAL)  # it warns that spaCy is not there
        from mem0 import Memory
        from mem0.embeddings.base import EmbeddingBase

        class Given(EmbeddingBase):
            """An embedder that looks its vectors up."""

            def embed(self, text, memory_action=None):
                return workload.embed(text)

        # Made, and never asked.
        openai = {"provider": "openai", "config": {"api_key": "none"}}
        store = {"connection_string": url, "embedding_model_dims": DIMENSIONS, "maxconn": clients}
        self._memory = Memory.from_config({
            "vector_store": {"provider": "pgvector", "config": store},
            "llm": openai,
            "embedder": openai,
            "history_db_path": str(folder / "mem0-history.db"),
        })
        self._memory.embedding_model = Given()
        self.url, self._workload = url, workload

    def load(self, numbers):
        """By its vector store, with the payload that `add` writes: `add` has no call for many."""
        numbers = list(numbers)
        for first in range(0, len(numbers), BATCH):
            batch = numbers[first:first + BATCH]
            texts = [self._workload.texts[number] for number in batch]
            self._memory.vector_store.insert(
                vectors=[self._workload.embed(text) for text in texts],
                payloads=[_payload(user_of(number), text) for number, text in zip(batch, texts)],
                ids=[str(uuid.uuid4()) for _ in batch],
            )

    @contextlib.contextmanager
    def client(self):
        yield self  # one `Memory` serves all threads of a program

    def write(self, number, user):
        self._memory.add(self._workload.texts[number], user_id=user, infer=False)

    def search(self, question):
        # Without a threshold, so that no row is left out for its score.
        found = self._memory.search(question.text, filters={"user_id": question.user}, top_k=ASKED_FOR, threshold=0.0)
        return [self._workload.number(hit["memory"]) for hit in found["results"]]


def _payload(user, text):
    now = "2026-11-01T00:00:00+00:00"
    return {"user_id": user, "role": "user", "data": text, "hash": hashlib.md5(text.encode()).hexdigest(),
            "created_at": now, "updated_at": now, "text_lemmatized": text}
