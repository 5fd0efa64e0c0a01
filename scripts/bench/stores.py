"""The measures of the stores: how fast memories are loaded, written and found, and how many are found."""

import statistics
import threading
import time

from bench.data import ASKED_FOR, user_of

WARM_UP = 10


def each_round(stores, rounds, measure):
    """The figures of each store in each round. In every round another store is the first."""
    figures = {store.name: [] for store in stores}
    for number in range(rounds):
        for place in range(len(stores)):
            store = stores[(number + place) % len(stores)]
            figures[store.name].append(measure(store, number))
    return figures


def load(store, numbers):
    started = time.perf_counter()
    store.load(numbers)
    return {"rate": len(numbers) / (time.perf_counter() - started)}


def recall(store, workload, nearest):
    """Asks every question of the workload, one after the other."""
    times, rows, right = [], [], []
    with store.client() as client:
        for question in workload.asked[:WARM_UP]:
            client.search(question)
        for question, best in zip(workload.asked, nearest):
            started = time.perf_counter()
            found = client.search(question)
            times.append(1_000 * (time.perf_counter() - started))
            rows.append(len(found))
            right.append(len(best.intersection(found)) / ASKED_FOR)
    return {**_percentiles(times), "rows": statistics.mean(rows), "recall": statistics.mean(right)}


def write(store, clients, first, count):
    """Writes `count` memories from number `first`, by as many threads as there are clients."""
    times, failures = [], []
    ready = threading.Barrier(clients + 1)
    parts = [range(first + client, first + count, clients) for client in range(clients)]

    def run(numbers):
        try:
            with store.client() as client:
                ready.wait()
                for number in numbers:
                    started = time.perf_counter()
                    client.write(number, user_of(number))
                    times.append(1_000 * (time.perf_counter() - started))
        except threading.BrokenBarrierError:  # another client failed, and has said why
            pass
        except Exception as failure:  # told below: a thread's own end is not seen
            failures.append(failure)
            ready.abort()

    threads = [threading.Thread(target=run, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    try:
        ready.wait()
    except threading.BrokenBarrierError:
        pass  # told below
    started = time.perf_counter()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - started
    if failures:
        raise failures[0]
    return {"rate": count / took, **_percentiles(times)}


def _percentiles(times):
    times = sorted(times)
    return {"p50_ms": statistics.median(times), "p95_ms": times[int(len(times) * 0.95)]}
