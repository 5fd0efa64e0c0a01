"""A server of this process: `htm up` with the private PostgreSQL and both workers, until the process ends."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
import threading
import weakref
from pathlib import Path
from typing import IO

from .errors import HtmError

# The first start lays out a database and reads the model.
PATIENCE = 180.0


class StartFailed(HtmError):
    """The private server did not start."""

    def __init__(self, detail: str, hint: str) -> None:
        super().__init__("start_failed", detail, hint=hint)


def program(name: str = "htm") -> Path:
    """The program of this name: that of `HTM_PROGRAMS`, of this environment, or of the search path."""
    folders = [os.environ.get("HTM_PROGRAMS"), sysconfig.get_path("scripts")]
    for folder in filter(None, folders):
        if (found := Path(folder) / name).is_file():
            return found
    if on_path := shutil.which(name):
        return Path(on_path)
    hint = "install the wheel `htm-memory`, or set HTM_PROGRAMS to the folder of the programs"
    raise StartFailed(f"there is no program `{name}`", hint)


class PrivateServer:
    """A server that ends with this process, also if it is killed.

    Two processes may have one each: they share the database below `HTM_DATA_DIR`, and nothing is done twice.
    """

    def __init__(self) -> None:
        self._log: IO[bytes] = tempfile.TemporaryFile()
        command = [str(program()), "up", "--json", "--listen", "127.0.0.1:0", "--until-stdin-closes"]
        # Ctrl-C, and the interrupt of a notebook, go to a whole group of processes, and would stop the server too. It
        # needs no terminal: it ends when its standard input closes.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, start_new_session=True
        )
        _with_pipes.add(self)
        try:
            self.url: str = self._first_line()["url"]
        except BaseException:
            # Nobody will use it. A traceback that is kept would keep its standard input open.
            assert self._process.stdin
            self._process.stdin.close()
            raise

    def _first_line(self) -> dict[str, str]:
        late = threading.Timer(PATIENCE, self._process.kill)
        assert self._process.stdout
        try:
            late.start()
            line = self._process.stdout.readline()
        finally:
            late.cancel()
        if not line:
            self._process.wait()
            self._log.seek(0)
            told = self._log.read().decode(errors="replace").strip()
            raise StartFailed(f"`htm up` did not start: {told[-2000:]}", "see what it says, or run `htm doctor`")
        first: dict[str, str] = json.loads(line)
        return first

    def is_running(self) -> bool:
        """Whether its process has not ended."""
        return self._process.poll() is None

    def close(self) -> None:
        """Ends the server; requests in hand may end first."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._log.close()

    def leave(self) -> None:
        """Leaves the server to the process from which this one was forked: it ends with that process alone."""
        atexit.unregister(self.close)
        # It is no child of this process: there is nothing to wait for.
        self._process.returncode = 0
        # Without `close`: a thread of that process may be in a pipe and hold its lock, which nobody here lets go.
        null = os.open(os.devnull, os.O_RDWR)
        for pipe in (self._process.stdin, self._process.stdout, self._log):
            if pipe and not pipe.closed:
                os.dup2(null, pipe.fileno(), inheritable=False)
        os.close(null)


_lock = threading.Lock()
_servers: dict[int, PrivateServer] = {}
# Also those that have not started yet.
_with_pipes: weakref.WeakSet[PrivateServer] = weakref.WeakSet()


def private_url() -> str:
    """The URL of the private server of this process, which is started if none runs."""
    with _lock:
        return (_running() or _started()).url


def _running() -> PrivateServer | None:
    server = _servers.get(os.getpid())
    return server if server and server.is_running() else None


def _started() -> PrivateServer:
    if ended := _servers.pop(os.getpid(), None):
        atexit.unregister(ended.close)
        ended.close()
    server = _servers[os.getpid()] = PrivateServer()
    atexit.register(server.close)
    return server


def _leave_all() -> None:
    """Lets a forked process have no server yet, and a lock that nobody holds."""
    global _lock
    _lock = threading.Lock()
    for server in list(_with_pipes):
        server.leave()
    _with_pipes.clear()
    _servers.clear()


# Windows has no forks.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_all)
