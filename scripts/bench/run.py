"""A run: every measure on one cluster, and the answer."""

import numpy
import setup
from bench import environment, htm_server, jobs, machine
from bench.data import Workload, shipped_texts
from bench.langgraph_store import LangGraph
from bench.mem0_memory import Mem0
from bench.raw_sql import BY_USER, HNSW, RawSql
from bench.report import Progress, Report
from bench.server import Programs, cluster, served
from bench.stores import each_round, load, recall, write

CLIENTS = 16
# Other names than those of HTM and the rivals.
RAW = "raw SQL"
EXACT = "raw SQL, exact"


class Run:
    """A run on one cluster."""

    def __init__(self, given, programs, cluster, folder, report, say):
        self.given, self.programs, self.cluster, self.folder = given, programs, cluster, folder
        self.report, self.say = report, say

    def stores(self):
        """Load, recall and writes, of every store."""
        self.say("making texts and vectors")
        given = self.given
        workload = Workload(given.rows[-1], given.questions, given.rounds * (given.writes + given.shared_writes))
        url = self.cluster.database("bench_htm")
        htm_server.prepare(self.programs, url)
        with served(self.programs, url) as server:
            stores = [htm_server.HtmServer(url, server, workload), *self._rivals(workload), *self._raw(workload)]
            loaded = 0
            for rows in given.rows:
                self._load(stores, range(loaded, rows), rows)
                self._recall(stores, workload, rows)
                loaded = rows
            stores = [store for store in stores if store.name != EXACT]
            self._write(stores, 1, given.writes, loaded)
            self._write(stores, CLIENTS, given.shared_writes, loaded + given.rounds * given.writes)

    def jobs(self):
        """A backlog of jobs that cost nothing."""
        draw = numpy.random.default_rng(20)
        vectors = [str(vector.tolist()) for vector in draw.standard_normal((500, jobs.DIMENSIONS))]
        fake = {"HTM_EMBEDDING__PROVIDER": "fake"}
        drains = [
            jobs.Worker(self.programs, self.cluster.database("bench_jobs"), self.folder, **fake),
            jobs.RawJobs("raw SQL, with vectors", self.cluster.database("bench_raw_jobs"), vectors),
            jobs.RawJobs(RAW, self.cluster.database("bench_bare_jobs")),
        ]
        self._drain("jobs, no model", drains, _texts(self.given.jobs), RAW)

    def texts(self):
        """A backlog of texts for the local model."""
        model = setup.htm_home() / "models" / "all-MiniLM-L6-v2"
        local = {"HTM_EMBEDDING__PROVIDER": "local", "HTM_LOCAL__MODEL_DIR": str(model)}
        texts = _texts(self.given.texts)
        drains = [jobs.Worker(self.programs, self.cluster.database("bench_texts"), self.folder, **local)]
        program = self.programs.folder / "examples" / "embed_rounds"
        if not program.is_file():
            made_by = "cargo build --release --example embed_rounds -p htm-providers"
            self.report.notes.append(f"the texts have no floor: `{made_by}` makes it")
            return self._drain("texts, local model", drains, texts)
        with jobs.ModelAlone(program, model, texts, self.folder) as alone:
            self._drain("texts, local model", [*drains, alone], texts, alone.name)

    def _rivals(self, workload):
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

    def _raw(self, workload):
        yield RawSql(RAW, HNSW, self.cluster.database("bench_raw"), workload)
        yield RawSql(EXACT, BY_USER, self.cluster.database("bench_exact"), workload)

    def _load(self, stores, numbers, rows):
        figures = {}
        for store in stores:
            self.say(f"loading {rows:,} rows: {store.name}")
            figures[store.name] = [load(store, numbers)]
            self.cluster.settle(store.url)
        self.report.add(f"load, up to {rows:,} rows", figures)

    def _recall(self, stores, workload, rows):
        nearest = workload.nearest(rows)

        def measure(store, number):
            self.say(f"recall of {rows:,} rows, round {number + 1}: {store.name}")
            return recall(store, workload, nearest)

        self.report.add(f"recall, {rows:,} rows", each_round(stores, self.given.rounds, measure), EXACT)

    def _write(self, stores, clients, count, first):
        who = f"{clients} client{'s' if clients > 1 else ''}"

        def measure(store, number):
            self.say(f"write, {who}, round {number + 1}: {store.name}")
            return write(store, clients, first + number * count, count)

        figures = each_round(stores, self.given.rounds, measure)
        self.report.add(f"write, {who}, {self.given.rows[-1]:,} rows there", figures, RAW)

    def _drain(self, what, drains, texts, floor=None):
        def measure(drain, number):
            self.say(f"{what}: {len(texts):,}, round {number + 1}: {drain.name}")
            return drain.drain(texts)

        self.report.add(what, each_round(drains, self.given.rounds, measure), floor)


def _texts(count):
    return [f"{text} ({number})" for number, text in enumerate(shipped_texts(count))]


def run(given):
    programs, report, say = Programs(given.programs), Report(), Progress()
    about = {"machine": machine.machine(), "versions": machine.versions(programs), "packages": machine.packages(),
             "load": [machine.load_average()]}
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
