"""Exceptions go from process to process, and are copied."""

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from functools import partial

import pytest

from htm_memory import HtmError, errors
from htm_memory._generated.errors import BY_CODE
from htm_memory.private import StartFailed

PROBLEM = {"detail": "it is so", "hint": "try again", "values": {"node": "7"}}

MADE = [
    errors.Unreachable("no whole answer"),
    errors.NoProblem(404),
    StartFailed("it did not start", "see why"),
    *[errors.of_problem({**PROBLEM, "code": code}, 409, "request-1") for code in [*BY_CODE, "of_a_newer_server"]],
]

WAYS = [copy.copy, copy.deepcopy, *[partial(pickle.dumps, protocol=it) for it in range(pickle.HIGHEST_PROTOCOL + 1)]]


@pytest.mark.parametrize("way", WAYS)
def test_every_exception_comes_back_as_it_was(way: Callable[[HtmError], HtmError | bytes]):
    for error in MADE:
        made = way(error)
        again = pickle.loads(made) if isinstance(made, bytes) else made
        assert type(again) is type(error)
        assert (str(again), again.args, vars(again)) == (str(error), error.args, vars(error))


def fails() -> None:
    raise MADE[0]


def test_a_pool_gives_the_exception_of_its_worker():
    with multiprocessing.get_context("spawn").Pool(1) as pool, pytest.raises(errors.Unreachable):
        pool.apply_async(fails).get(60)
