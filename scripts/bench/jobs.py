"""The measures of the workers: a backlog of jobs, worked off."""

import json
import subprocess
import threading
import time

import psycopg

# As embed-worker's own.
BATCH = 64
LOOPS = 2
# Of the vectors of the provider `fake`.
DIMENSIONS = 64
LONGEST_S = 900

RAW = f"""
create extension vector;
create table job (
    id bigint generated always as identity primary key, payload text not null, state text not null default 'pending',
    run_at timestamptz not null default now(), worker text, locked_at timestamptz, done_at timestamptz);
create index job_due_idx on job (run_at, id) where state = 'pending';
create table result (id bigint primary key, embedding halfvec({DIMENSIONS}) not null);
create index result_idx on result using hnsw (embedding halfvec_cosine_ops);
"""
CLAIM = f"""
update job set state = 'running', worker = %(worker)s, locked_at = now()
 where id = any (array(select id from job where state = 'pending' and run_at <= now()
                        order by run_at, id limit {BATCH} for update skip locked))
returning id, payload"""
ACK = """
update job set state = 'done', done_at = now()
 where id = any (%(ids)s) and state = 'running' and worker = %(worker)s"""
ACK_WITH_VECTORS = f"""
with written as (insert into result select * from unnest(%(ids)s::bigint[], %(vectors)s::halfvec[])){ACK}"""

# HTM's own jobs: those of the embed-worker.
FIRST_CLAIM = "select min(lock_at) from apalis.jobs where starts_with(job_type, 'htm.embed') and status = 'Running'"
DONE_SINCE = """
select max(done_at), count(*) from apalis.jobs
 where starts_with(job_type, 'htm.embed') and status = 'Done' and done_at >= %s"""


class RawJobs:
    """A table of jobs, claimed and acknowledged by one statement each."""

    def __init__(self, name, url, vectors=None):
        self.name, self._url, self._vectors = name, url, vectors
        with psycopg.connect(url) as connection:
            connection.execute(RAW)

    def drain(self, texts):
        count = len(texts)
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute("insert into job (payload) select * from unnest(%s::text[])", [texts])
            connection.execute("vacuum analyze job")
        done, threads = [0] * LOOPS, []
        started = time.perf_counter()
        for loop in range(LOOPS):
            threads.append(threading.Thread(target=self._run, args=(f"loop-{loop}", done, loop)))
            threads[-1].start()
        for thread in threads:
            thread.join()
        if sum(done) != count:
            raise RuntimeError(f"{sum(done)} jobs of {count} were done")
        return {"rate": count / (time.perf_counter() - started)}

    def _run(self, worker, done, place):
        with psycopg.connect(self._url, autocommit=True) as connection:
            while claimed := connection.execute(CLAIM, {"worker": worker}).fetchall():
                ids = [number for number, _ in claimed]
                if self._vectors:
                    vectors = [self._vectors[number % len(self._vectors)] for number in ids]
                    acked = connection.execute(ACK_WITH_VECTORS, {"worker": worker, "ids": ids, "vectors": vectors})
                else:
                    acked = connection.execute(ACK, {"worker": worker, "ids": ids})
                done[place] += acked.rowcount


class Worker:
    """One `embed-worker` with its default settings. Its own start is not measured."""

    name = "HTM"

    def __init__(self, programs, url, folder, **settings):
        self._programs, self._url, self._folder = programs, url, folder
        self._settings = {"HTM_DATABASE__URL": url, **settings}
        programs.run("db", "migrate", **self._settings)
        # Registers its model, whose table and index are there then.
        self._work()
        self._rounds = 0

    def drain(self, texts):
        self._rounds += 1
        file = self._folder / "texts.jsonl"
        lines = ({"id": str(n), "ns": f"round-{self._rounds}", "text": text} for n, text in enumerate(texts))
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        self._programs.run("import", file, **self._settings)
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute("vacuum analyze")
            worker = self._start()
            try:
                started = _first_claim(connection, worker)
                if worker.wait(timeout=LONGEST_S) != 0:
                    raise RuntimeError("embed-worker failed")
            finally:
                worker.kill()
            ended, done = connection.execute(DONE_SINCE, [started]).fetchone()
        if done != len(texts):
            raise RuntimeError(f"{done} texts of {len(texts)} were embedded")
        return {"rate": done / (ended - started).total_seconds()}

    def _start(self):
        return self._programs.start("embed-worker", "--drain", **self._settings)

    def _work(self):
        worker = self._start()
        if worker.wait(timeout=LONGEST_S) != 0:
            raise RuntimeError("embed-worker failed")


def _first_claim(connection, worker):
    """The time when the worker claimed its first batch, by PostgreSQL's clock."""
    deadline = time.monotonic() + LONGEST_S
    while time.monotonic() < deadline:
        (claimed,) = connection.execute(FIRST_CLAIM).fetchone()
        if claimed:
            return claimed
        if worker.poll() is not None:
            raise RuntimeError("embed-worker ended before its first claim was seen: give more --jobs")
        time.sleep(0.002)
    raise RuntimeError("embed-worker claimed nothing")


class ModelAlone:
    """The local model in a process without a database: `embed_rounds`, an example of htm-providers."""

    name = "the model alone"

    def __init__(self, program, model, texts, folder):
        file = folder / "alone.jsonl"
        file.write_text("".join(json.dumps(text) + "\n" for text in texts), encoding="utf-8")
        self._count = len(texts)
        command = [str(program), str(model), str(file), str(BATCH)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self._process.stdout.readline().strip() != "ready":
            raise RuntimeError("embed_rounds did not start")

    def drain(self, _):
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        return {"rate": self._count / float(self._process.stdout.readline())}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait()
