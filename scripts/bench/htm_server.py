"""HTM: `htm serve` and its Python client. The vectors come with the writes and with the questions."""

import contextlib
import sys

from bench.data import ASKED_FOR, DIMENSIONS, user_of
from bench.environment import ROOT

sys.path.insert(0, str(ROOT / "clients" / "python"))
from htm_memory import Htm  # noqa: E402

MODEL = "caller/bench"
BATCH = 10_000


class HtmServer:
    name = "HTM"

    def __init__(self, url, server, workload):
        self.url, self._server, self._workload = url, server, workload

    def load(self, numbers):
        numbers = list(numbers)
        with Htm(self._server) as htm:
            for first in range(0, len(numbers), BATCH):
                lines = (self._line(number) for number in numbers[first:first + BATCH])
                for result in htm.import_lines(lines):
                    if result.outcome != "written":
                        sys.exit(f"bench: line {result.line} was not imported: {result.problem or result.outcome}")

    def _line(self, number):
        text = self._workload.texts[number]
        return {"id": str(number), "ns": user_of(number), "text": text, "vectors": {MODEL: self._workload.embed(text)}}

    @contextlib.contextmanager
    def client(self):
        with Htm(self._server) as htm:
            yield Client(htm, self._workload)


class Client:
    def __init__(self, htm, workload):
        self._htm, self._workload = htm, workload

    def write(self, number, user):
        text = self._workload.texts[number]
        self._htm.memories.create(text, namespace=user, vectors={MODEL: self._workload.embed(text)})

    def search(self, question):
        found = self._htm.recall.recall(strategy="vector", models=[MODEL], vector=self._workload.embed(question.text),
                                        filter={"namespaces": [question.user]}, limit=ASKED_FOR)
        return [self._workload.number(hit.content) for hit in found.hits]


def prepare(programs, url):
    """Migrates a database, and adds the one model that its memories have vectors of."""
    programs.run("db", "migrate", HTM_DATABASE__URL=url)
    programs.run("models", "add", MODEL, "--dimensions", DIMENSIONS, HTM_DATABASE__URL=url)
