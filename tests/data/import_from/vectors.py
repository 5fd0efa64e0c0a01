"""Vectors for tests: deterministic, each near to those of texts with the same words."""

import hashlib
import random

DIMENSIONS = 16


def vector(text):
    """The sum of the vectors of the words of a text."""
    return [sum(part) for part in zip(*(of_word(word) for word in text.lower().split() or [""]), strict=True)]


def of_word(word):
    chance = random.Random(hashlib.sha256(word.encode()).digest())
    return [chance.gauss(0, 1) for _ in range(DIMENSIONS)]
