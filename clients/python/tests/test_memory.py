"""`Memory`, with a server that is there and with one that it starts."""

import copy
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from htm_memory import Memory, errors, models

# A program that uses a private server, says where it is, and goes on.
PROGRAM = """
import os, sys
from htm_memory import Memory
from htm_memory.private import _servers
memory = Memory(namespace=sys.argv[1])
memory.remember("Mara prefers tabs.")
print(_servers[os.getpid()]._process.pid, memory.recall("tabs or spaces?")[0].content, flush=True)
sys.stdin.read()
"""

# A program that outlives an interrupt of its group of processes, as Ctrl-C and a notebook send it.
INTERRUPTED = """
import os, signal, sys, threading
from htm_memory import Memory
from htm_memory.private import _servers
memory = Memory(namespace=sys.argv[1])
server = _servers[os.getpid()]._process.pid
try:
    os.kill(0, signal.SIGINT)
    threading.Event().wait(60)
    sys.exit("no interrupt came")
except KeyboardInterrupt:
    pass
is_apart = os.getpgid(server) != os.getpgid(0)
Memory(namespace=sys.argv[1]).remember("Mara prefers tabs.")
is_same = _servers[os.getpid()]._process.pid == server
print(is_apart, is_same, memory.recall("tabs or spaces?")[0].content)
"""

# A program whose server is killed.
KILLED = """
import os, sys, time
from htm_memory import Memory, errors
from htm_memory.private import _servers
memory = Memory(namespace=sys.argv[1])
killed = _servers[os.getpid()]
killed._process.kill()
deadline = time.monotonic() + 60
while True:
    try:
        Memory(namespace=sys.argv[1]).remember("Mara prefers tabs.")
        break
    except errors.Unreachable:
        # It has not ended yet.
        assert time.monotonic() < deadline, "there is no other server"
is_other = _servers[os.getpid()] is not killed
print(is_other, len(_servers), memory.recall("tabs or spaces?")[0].content)
"""

# A program that is interrupted while its server starts, and keeps the traceback.
IMPATIENT = """
import sys
from htm_memory import Memory
try:
    Memory()
except KeyboardInterrupt as error:
    kept = error
    print("interrupted", flush=True)
    sys.stdin.read()
"""

# A program that forks while a thread of it starts a server. It ends as if it were killed, and its child goes on.
FORKED = """
import os, signal, sys, threading
from htm_memory import Memory, private
memory = Memory()
held = threading.Event()
def hold():
    with private._lock:
        held.set()
        threading.Event().wait()
threading.Thread(target=hold, daemon=True).start()
held.wait()
if os.fork():
    os._exit(0)
# A child that waits for ever ends.
signal.alarm(30)
before = len(private._servers)
private.private_url()
print(before, len(private._servers), flush=True)
sys.stdin.read()
"""


def start(code: str, *arguments: str) -> subprocess.Popen[str]:
    """Starts a program without a server, in a session of its own: it may interrupt its group."""
    environment = {name: value for name, value in os.environ.items() if name != "HTM_URL"}
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_until(condition: Callable[[], bool], told: str) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, told
        time.sleep(0.05)


def test_it_remembers_recalls_and_forgets(url, namespace):
    with Memory(url, namespace=namespace, robot="ada") as memory:
        node = memory.remember("Mara prefers tabs.", importance=8).node
        assert [hit.id for hit in memory.recall("tabs or spaces?")] == [node]
        assert memory.htm.memories.get(node).robot == "ada"
        assert memory.forget(node).forgotten == [node]
        assert memory.recall("tabs or spaces?") == []


FILTERS = [
    {"min_importance": 5},
    {"min_importance": 5, "namespaces": []},
    models.FilterBody(min_importance=5),
    {},
    None,
]


@pytest.mark.parametrize("filter", FILTERS)
def test_a_filter_is_for_the_namespace_of_the_memory(url, namespace, filter):
    given = copy.deepcopy(filter)
    with Memory(url, namespace=namespace) as memory:
        node = memory.remember("Mara prefers tabs.", importance=8).node
        assert [hit.id for hit in memory.recall("tabs or spaces?", filter=filter)] == [node]
    assert filter == given


def test_a_filter_may_name_other_namespaces(url, namespace):
    other = f"{namespace}/other"
    with Memory(url, namespace=namespace) as memory:
        memory.remember("Mara prefers tabs.")
        node = memory.remember("Ben prefers tabs.", namespace=other).node
        for filter in ({"namespaces": [other]}, models.FilterBody(namespaces=[other])):
            assert [hit.id for hit in memory.recall("tabs or spaces?", filter=filter)] == [node]


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif("HTM_PROGRAMS" not in os.environ, reason="HTM_PROGRAMS is not set")
@pytest.mark.parametrize("is_killed", [False, True])
def test_a_private_server_ends_with_its_program(namespace, is_killed):
    program = start(PROGRAM, namespace)
    server, said = program.stdout.readline().split(" ", 1)
    assert said == "Mara prefers tabs.\n"
    assert is_running(int(server))
    if is_killed:
        program.send_signal(signal.SIGKILL)
    program.communicate()
    wait_until(lambda: not is_running(int(server)), "the server goes on")


@pytest.mark.skipif("HTM_PROGRAMS" not in os.environ, reason="HTM_PROGRAMS is not set")
def test_a_private_server_outlives_an_interrupt_of_its_program(namespace):
    said, _ = start(INTERRUPTED, namespace).communicate()
    assert said == "True True Mara prefers tabs.\n"


@pytest.mark.skipif("HTM_PROGRAMS" not in os.environ, reason="HTM_PROGRAMS is not set")
def test_a_private_server_that_died_is_replaced(namespace):
    said, _ = start(KILLED, namespace).communicate()
    assert said == "True 1 Mara prefers tabs.\n"


def test_an_interrupted_start_leaves_no_server(monkeypatch, tmp_path):
    monkeypatch.setenv("HTM_PROGRAMS", str(tmp_path))
    program = tmp_path / "htm"
    # It never says where it listens.
    program.write_text(f"#!/bin/sh\ncd '{tmp_path}'\ntouch started\ncat >cut\ntouch ended\n")
    program.chmod(0o755)
    impatient = start(IMPATIENT)
    wait_until((tmp_path / "started").exists, "no server starts")
    os.killpg(impatient.pid, signal.SIGINT)
    assert impatient.stdout.readline() == "interrupted\n"
    wait_until((tmp_path / "ended").exists, "the server goes on")
    impatient.communicate()


def test_a_forked_program_has_a_server_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("HTM_PROGRAMS", str(tmp_path))
    program = tmp_path / "htm"
    url = '{"url": "http://127.0.0.1:1"}'
    program.write_text(f"#!/bin/sh\necho '{url}'\ncat >'{tmp_path}/cut'\ntouch '{tmp_path}/ended-'$PPID\n")
    program.chmod(0o755)
    forked = start(FORKED)
    assert forked.stdout.readline() == "0 1\n"
    wait_until((tmp_path / f"ended-{forked.pid}").exists, "the server of the parent goes on")
    assert len(list(tmp_path.glob("ended-*"))) == 1
    forked.communicate()
    wait_until(lambda: len(list(tmp_path.glob("ended-*"))) == 2, "the server of the child goes on")


def test_a_program_that_is_missing_or_fails_is_told(monkeypatch, tmp_path):
    monkeypatch.delenv("HTM_URL")
    monkeypatch.setenv("HTM_PROGRAMS", str(tmp_path))
    program = tmp_path / "htm"
    program.write_text("#!/bin/sh\necho 'error[config_invalid]: no' >&2\nexit 2\n")
    program.chmod(0o755)
    with pytest.raises(errors.HtmError) as told:
        Memory()
    assert (told.value.code, "error[config_invalid]: no" in told.value.detail) == ("start_failed", True)
    program.unlink()
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    with pytest.raises(errors.HtmError, match="there is no program `htm`"):
        Memory()
