"""The store of LangGraph in HTM beside PostgresStore, in one run:

  langgraph_store.py --htm URL --postgres URL [--rows 100000] [--users 100] [--searches 200]

The URL of PostgreSQL names a database for the benchmark alone. Both get the same items with the same vectors of 384
numbers: first some one by one, then the rest in batches of 100. Then each search asks for ten items of one user.
"""

import argparse
import hashlib
import math
import random
import statistics
import time
import uuid
from functools import cache

from langgraph.store.base import PutOp
from langgraph.store.postgres import PostgresStore

from htm_memory import Htm
from htm_memory.langgraph import HtmStore

DIMENSIONS = 384
SINGLE = 200


@cache
def vector(text):
    """A vector near to that of its topic, the first word."""
    topic, own = (random.Random(hashlib.sha256(it.encode()).digest()) for it in (text.split()[0], text))
    return [
        a + 0.7 * b - 1.7 * 127.5 for a, b in zip(topic.randbytes(DIMENSIONS), own.randbytes(DIMENSIONS), strict=True)
    ]


def embed(texts):
    return [vector(text) for text in texts]


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b))


def filled(store, items):
    """Puts the items. Returns the puts a second, one by one and in batches."""
    begun = time.perf_counter()
    for namespace, key, value in items[:SINGLE]:
        store.put(namespace, key, value)
    single = SINGLE / (time.perf_counter() - begun)
    begun = time.perf_counter()
    for first in range(SINGLE, len(items), 100):
        store.batch([PutOp(*item) for item in items[first : first + 100]])
    return single, (len(items) - SINGLE) / (time.perf_counter() - begun)


def searched(store, asked, best):
    """Returns the rows of a search, the share of the nearest ten among them, and its time in ms: the median, 95 %."""
    rows, right, times = [], [], []
    for namespace, query in asked:
        begun = time.perf_counter()
        found = store.search(namespace, query=query, limit=10)
        times.append(1_000 * (time.perf_counter() - begun))
        rows.append(len(found))
        right.append(len({item.key for item in found} & best[namespace, query]) / 10)
    times.sort()
    return statistics.mean(rows), statistics.mean(right), statistics.median(times), times[int(len(times) * 0.95)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--htm", required=True)
    parser.add_argument("--postgres", required=True)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--searches", type=int, default=200)
    given = parser.parse_args()

    chance = random.Random(1)
    items = [
        (("users", f"u{n % given.users}"), f"{n}", {"text": f"topic-{chance.randrange(500)} note {n}"})
        for n in range(given.rows)
    ]
    asked = [
        (("users", f"u{chance.randrange(given.users)}"), f"topic-{chance.randrange(500)} ?")
        for _ in range(given.searches)
    ]
    of_user = {}
    for namespace, key, value in items:
        of_user.setdefault(namespace, []).append((key, vector(value["text"])))
    best = {
        (namespace, query): {
            key for key, _ in sorted(of_user[namespace], key=lambda it: -cosine(it[1], vector(query)))[:10]
        }
        for namespace, query in asked
    }
    index = {"dims": DIMENSIONS, "embed": embed, "fields": ["text"]}
    print(f"{given.rows} rows of {given.users} users, {given.searches} searches for 10 of one user")
    print("| store | puts/s, one by one | puts/s, by 100 | rows of 10 | nearest ten | p50 ms | p95 ms |")
    print("|---|---|---|---|---|---|---|")

    def measure(name, store):
        single, batched = filled(store, items)
        rows, right, median, late = searched(store, asked, best)
        print(
            f"| {name} | {single:.0f} | {batched:.0f} | {rows:.1f} | {right:.0%} | {median:.1f} | {late:.1f} |",
            flush=True,
        )

    with Htm(given.htm) as htm:
        measure("HtmStore", HtmStore(htm, index=index, root=f"benchmark/{uuid.uuid4().hex}"))
    with PostgresStore.from_conn_string(given.postgres, index=index) as postgres:
        postgres.setup()
        measure("PostgresStore", postgres)


main()
