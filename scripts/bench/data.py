"""The memories, the questions and their exact answers: the same for every store, and the same in every run."""

import sys
from dataclasses import dataclass

import numpy

from bench.environment import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from bench_embed import shipped_texts  # noqa: E402

DIMENSIONS = 384
USERS = 100
TOPICS = 500
# Of a vector beside its topic's. The cosine of two memories of a topic is 0.67 on average, of others 0.
SPREAD = 0.7
ASKED_FOR = 10


@dataclass(frozen=True)
class Question:
    """A question of one user.

    Attributes:
        user: Who asks. Only this user's memories may be found.
        text: The text whose vector is asked for. No memory has its word.
        number: Its place among the questions.
    """

    user: str
    text: str
    number: int


class Workload:
    """`rows` memories of `USERS` users about `TOPICS` topics, `spare` more to be written, and questions about topics.

    Every user speaks about every topic. Vectors are unit vectors with six decimals: a topic's, and some of their own.
    """

    def __init__(self, rows, questions, spare):
        draw = numpy.random.default_rng(20)
        self._topics = _units(draw.standard_normal((TOPICS, DIMENSIONS), dtype=numpy.float32))
        # No two are the same: HTM counts a repetition instead of storing it.
        self.texts = [f"{text} ({number})" for number, text in enumerate(shipped_texts(rows + spare))]
        self.asked = [Question(user_of(draw.integers(USERS)), f"question{n}x", n) for n in range(questions)]
        self._vectors = self._near_topics(draw, len(self.texts))
        self._of_questions = self._near_topics(draw, questions)
        self._numbers = {text: number for number, text in enumerate(self.texts)}
        self._questions = {question.text: question.number for question in self.asked}

    def _near_topics(self, draw, count):
        own = _units(draw.standard_normal((count, DIMENSIONS), dtype=numpy.float32))
        return numpy.round(_units(self._topics[draw.integers(TOPICS, size=count)] + SPREAD * own), 6)

    def embed(self, text):
        """The vector of a memory's or a question's text, looked up: every store is given vectors at no cost."""
        number = self._numbers.get(text)
        vector = self._of_questions[self._questions[text]] if number is None else self._vectors[number]
        return numpy.round(vector.astype(numpy.float64), 6).tolist()

    def number(self, text):
        """The number of the memory with this text."""
        return self._numbers[text]

    def nearest(self, rows):
        """For each question the numbers of its user's nearest memories of the first `rows`, by exact search."""
        answers = []
        for question in self.asked:
            own = numpy.arange(int(question.user[5:]), rows, USERS)
            similarity = self._vectors[own] @ self._of_questions[question.number]
            answers.append(set(own[numpy.argsort(-similarity)[:ASKED_FOR]].tolist()))
        return answers


def user_of(number):
    """The user of a memory."""
    return f"user-{number % USERS:03}"


def _units(vectors):
    return vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)
