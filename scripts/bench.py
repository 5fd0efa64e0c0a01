#!/usr/bin/env python3
"""HTM beside mem0, LangGraph's store and raw SQL, in one run on one PostgreSQL: writes, recall, jobs and embeddings.

  bench.py [--rows 10000,100000] [--rounds 3] [--quick] [--json FILE] [--markdown] [--programs DIR]

Every store gets the same texts with the same vectors of 384 numbers, which are looked up: only the last lines measure
embeddings. docs/benchmarks.md says how each line is measured, and what is not compared. The rivals come from PyPI,
once, with pinned versions (pip's own settings hold). One that cannot be installed is named, and the rest goes on.

PostgreSQL is a cluster of its own in a temporary directory (TMPDIR), which is removed at the end.
Progress is shown on a terminal. --quick, for trials, takes two minutes; its figures mean nothing.
"""

import argparse
import os
import signal
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from bench import environment  # noqa: E402

CLIENTS = 16
FULL = {"rows": "10000,100000", "rounds": 3, "questions": 200, "writes": 300, "shared_writes": 800,
        "jobs": 20_000, "texts": 1_000}
QUICK = {"rows": "1000,5000", "rounds": 1, "questions": 50, "writes": 100, "shared_writes": 320,
         "jobs": 3_000, "texts": 200}
# Other names than those of HTM and the rivals.
RAW = "raw SQL"
EXACT = "raw SQL, exact"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    target = Path(os.environ.get("CARGO_TARGET_DIR", environment.ROOT / "target"))
    parser.add_argument("--rows", help="the sizes at which recall is measured")
    parser.add_argument("--rounds", type=int, help="of which each figure is the median")
    parser.add_argument("--quick", action="store_true", help="few rows and one round")
    parser.add_argument("--json", type=Path, metavar="FILE", help="writes every figure there, also of each round")
    parser.add_argument("--markdown", action="store_true", help="prints the table as Markdown")
    parser.add_argument("--programs", type=Path, default=target / "release", metavar="DIR",
                        help="where htm and embed-worker are")
    given = parser.parse_args()
    for name, value in (QUICK if given.quick else FULL).items():
        if getattr(given, name, None) is None:
            setattr(given, name, value)
    try:
        given.rows = sorted({int(rows) for rows in given.rows.split(",")})
    except ValueError:
        parser.error(f"--rows takes numbers, as 10000,100000: {given.rows!r}")
    if given.rows[0] < 1_000 or given.rounds < 1:
        parser.error("the least are 1,000 rows, ten of each user, and one round")
    return given


class Run:
    """A run on one cluster."""

    def __init__(self, given, programs, cluster, folder, report, say):
        self.given, self.programs, self.cluster, self.folder = given, programs, cluster, folder
        self.report, self.say = report, say

    def stores(self):
        from bench import htm_server
        from bench.data import Workload
        from bench.server import served

        self.say("making texts and vectors")
        given = self.given
        workload = Workload(given.rows[-1], given.questions, given.rounds * (given.writes + given.shared_writes))
        url = self.cluster.database("bench_htm")
        htm_server.prepare(self.programs, url)
        with served(self.programs, url) as server:
            stores = [htm_server.HtmServer(url, server, workload), *self.rivals(workload), *self.raw(workload)]
            loaded = 0
            for rows in given.rows:
                self.load(stores, range(loaded, rows), rows)
                self.recall(stores, workload, rows)
                loaded = rows
            self.write([store for store in stores if store.name != EXACT], loaded)

    def rivals(self, workload):
        from bench.langgraph_store import LangGraph
        from bench.mem0_memory import Mem0

        made = {
            "mem0": lambda: Mem0(self.cluster.database("bench_mem0"), self.folder, workload, CLIENTS),
            "LangGraph": lambda: LangGraph(self.cluster.database("bench_langgraph"), workload),
        }
        missing = environment.skipped()
        for name, make in made.items():
            try:
                if name in missing:
                    raise RuntimeError(missing[name])
                yield make()
            except Exception as reason:  # whatever a rival's package says: the rest goes on
                self.report.notes.append(f"{name} was skipped: {reason}")

    def raw(self, workload):
        from bench.raw_sql import BY_USER, HNSW, RawSql

        yield RawSql(RAW, HNSW, self.cluster.database("bench_raw"), workload)
        yield RawSql(EXACT, BY_USER, self.cluster.database("bench_exact"), workload)

    def load(self, stores, numbers, rows):
        from bench.stores import load

        figures = {}
        for store in stores:
            self.say(f"loading {rows:,} rows: {store.name}")
            figures[store.name] = [load(store, numbers)]
            self.cluster.settle(store.url)
        self.report.add(f"load, up to {rows:,} rows", figures)

    def recall(self, stores, workload, rows):
        from bench.stores import each_round, recall

        nearest = workload.nearest(rows)

        def measure(store, number):
            self.say(f"recall of {rows:,} rows, round {number + 1}: {store.name}")
            return recall(store, workload, nearest)

        self.report.add(f"recall, {rows:,} rows", each_round(stores, self.given.rounds, measure), EXACT)

    def write(self, stores, first):
        from bench.stores import each_round, write

        rows = first
        for clients, count in ((1, self.given.writes), (CLIENTS, self.given.shared_writes)):
            def measure(store, number):
                self.say(f"writes of {clients} clients, round {number + 1}: {store.name}")
                return write(store, clients, first + number * count, count)

            what = f"write, {clients} client{'s' if clients > 1 else ''}, {rows:,} rows there"
            self.report.add(what, each_round(stores, self.given.rounds, measure), RAW)
            first += self.given.rounds * count

    def jobs(self):
        import numpy
        from bench import jobs
        from bench.data import shipped_texts
        from bench.stores import each_round

        draw = numpy.random.default_rng(20)
        vectors = [str(vector.tolist()) for vector in draw.standard_normal((500, jobs.DIMENSIONS))]
        fake = {"HTM_EMBEDDING__PROVIDER": "fake"}
        drains = [
            jobs.Worker(self.programs, self.cluster.database("bench_jobs"), self.folder, **fake),
            jobs.RawJobs("raw SQL, with vectors", self.cluster.database("bench_raw_jobs"), vectors),
            jobs.RawJobs(RAW, self.cluster.database("bench_bare_jobs")),
        ]
        count = self.given.jobs
        texts = [f"{text} ({number})" for number, text in enumerate(shipped_texts(count))]

        def measure(drain, number):
            self.say(f"{count:,} jobs, round {number + 1}: {drain.name}")
            return drain.drain(count if isinstance(drain, jobs.RawJobs) else texts)

        self.report.add("jobs, no model", each_round(drains, self.given.rounds, measure), RAW)

    def texts(self):
        from bench import jobs
        from bench.data import shipped_texts
        from bench.stores import each_round
        import setup

        model = setup.htm_home() / "models" / "all-MiniLM-L6-v2"
        texts = [f"{text} ({number})" for number, text in enumerate(shipped_texts(self.given.texts))]
        worker = jobs.Worker(self.programs, self.cluster.database("bench_texts"), self.folder,
                             HTM_EMBEDDING__PROVIDER="local", HTM_LOCAL__MODEL_DIR=str(model))
        drains, alone = [worker], self.programs.folder / "examples" / "embed_rounds"
        if alone.is_file():
            drains.append(jobs.ModelAlone(alone, model, texts, self.folder))
        else:
            made_by = "cargo build --release --example embed_rounds -p htm-providers"
            self.report.notes.append(f"the embeddings have no floor: `{made_by}` makes it")

        def measure(drain, number):
            self.say(f"{len(texts):,} texts, round {number + 1}: {drain.name}")
            return drain.drain(texts)

        try:
            self.report.add("texts, local model", each_round(drains, self.given.rounds, measure), jobs.ModelAlone.name)
        finally:
            for drain in drains[1:]:
                drain.close()


def run(given):
    from bench import machine
    from bench.report import Progress, Report
    from bench.server import Programs, cluster

    programs, report, say = Programs(given.programs), Report(), Progress()
    about = {"machine": machine.machine(), "versions": machine.versions(programs), "load": [machine.load_average()]}
    say("starting PostgreSQL")
    try:
        with cluster(programs) as (started, folder):
            about["settings"] = started.settings()
            running = Run(given, programs, started, folder, report, say)
            running.stores()
            running.jobs()
            running.texts()
    finally:  # an interrupted run shows what it has
        about["load"].append(machine.load_average())
        say("")
        if report.lines:
            show(given, about, report)


def show(given, about, report):
    for what in ("machine", "versions", "settings"):
        print(f"{what}: {', '.join(f'{name} {value}' for name, value in about[what].items())}")
    print("load average: {} before, {} after".format(*about["load"]))
    print(f"rounds: {given.rounds}; each figure is their median\n")
    print(report.markdown() if given.markdown else report.table())
    for note in report.notes:
        print(f"\n{note}")
    if given.json:
        given.json.write_text(report.json(rounds=given.rounds, **about) + "\n", encoding="utf-8")


def main():
    given = arguments()
    if Path(sys.prefix) != environment.place():
        python = environment.fetch()
        os.execv(python, [str(python), *sys.argv])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the cluster is removed then too
    run(given)


if __name__ == "__main__":
    main()
