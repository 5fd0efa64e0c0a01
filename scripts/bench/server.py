"""The processes of a run: a PostgreSQL of its own, and HTM's programs."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg

# The settings that are printed: those that matter for writes and searches. They are the same for every store.
SETTINGS = (
    "server_version", "max_connections", "shared_buffers", "work_mem", "maintenance_work_mem", "max_wal_size",
    "fsync", "synchronous_commit", "full_page_writes", "max_parallel_workers_per_gather", "random_page_cost", "jit",
)
# The places of PostgreSQL and of the model. No other setting of the user's may change what is measured.
KEPT = ("HTM_HOME", "HTM_POSTGRES_HOME")


class Programs:
    """HTM's programs, with the environment of this run."""

    def __init__(self, folder):
        self.folder = Path(folder).absolute()
        missing = [name for name in ("htm", "embed-worker") if not (self.folder / name).is_file()]
        if missing:
            made_by = "cargo build --release --workspace --bins"
            sys.exit(f"bench: there is no {missing[0]} in {self.folder}: run `{made_by}`")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HTM_") or name in KEPT}
        self.environment = {**kept, "HTM_LOG__LEVEL": "warn"}

    def command(self, name, *arguments):
        return [str(self.folder / name), *map(str, arguments)]

    def run(self, *arguments, **settings):
        """Runs `htm`. Returns its output."""
        done = subprocess.run(self.command("htm", *arguments), env={**self.environment, **settings},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip()[-2000:]
            sys.exit(f"bench: `htm {' '.join(map(str, arguments))}` failed: {said}")
        return done.stdout

    def start(self, name, *arguments, pipes=subprocess.DEVNULL, **settings):
        """Starts a program. `pipes` are its input and output; its errors are this process's."""
        return subprocess.Popen(self.command(name, *arguments), env={**self.environment, **settings},
                                stdin=pipes, stdout=pipes, text=True)

    def version(self):
        return self.run("--version").strip()


class Cluster:
    """A private PostgreSQL in a temporary directory, as `htm db up` starts it: on a Unix socket, not as root."""

    def __init__(self, programs, folder):
        programs.environment["HTM_DATA_DIR"] = str(Path(folder) / "pg")
        self._programs = programs
        self._url = json.loads(programs.run("db", "up", "--json"))["url"]

    def database(self, name):
        """Makes a database. Returns its URL."""
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute(f"create database {name}")
        return re.sub(r"/htm(\?|$)", rf"/{name}\1", self._url)

    def settings(self):
        with psycopg.connect(self._url) as connection:
            vector = connection.execute("select default_version from pg_available_extensions where name = 'vector'")
            settings = {"pgvector": vector.fetchone()[0]}
            for name in SETTINGS:
                settings[name] = connection.execute("select current_setting(%s)", [name]).fetchone()[0]
            return settings

    def settle(self, url):
        """Statistics for the planner and a clean table, as autovacuum makes them some minutes after a load."""
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("vacuum analyze")
            connection.execute("checkpoint")

    def stop(self):
        self._programs.run("db", "down", "--force")


@contextlib.contextmanager
def cluster(programs):
    """A cluster that is removed at the end."""
    folder = tempfile.mkdtemp(prefix="htm-bench-")
    os.chmod(folder, 0o755)  # as root, the server runs as another user
    try:
        started = Cluster(programs, folder)
        try:
            yield started, Path(folder)
        finally:
            started.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def served(programs, url):
    """`htm serve` over a database. Gives its URL."""
    options = ("--json", "--listen", "127.0.0.1:0", "--until-stdin-closes")
    server = programs.start("htm", "serve", *options, pipes=subprocess.PIPE, HTM_DATABASE__URL=url)
    try:
        line = server.stdout.readline()
        if not line:
            sys.exit("bench: `htm serve` did not start")
        yield json.loads(line)["url"]
    finally:
        server.stdin.close()
        server.wait(timeout=60)
