"""`Memory`, with a server that is there and with one that it starts."""

import os
import signal
import subprocess
import sys
import time

import pytest

from htm_memory import Memory, errors

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


def test_it_remembers_recalls_and_forgets(url, namespace):
    with Memory(url, namespace=namespace, robot="ada") as memory:
        node = memory.remember("Mara prefers tabs.", importance=8).node
        assert [hit.id for hit in memory.recall("tabs or spaces?")] == [node]
        assert memory.htm.memories.get(node).robot == "ada"
        assert memory.forget(node).forgotten == [node]
        assert memory.recall("tabs or spaces?") == []


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif("HTM_PROGRAMS" not in os.environ, reason="HTM_PROGRAMS is not set")
@pytest.mark.parametrize("is_killed", [False, True])
def test_a_private_server_ends_with_its_program(namespace, is_killed):
    environment = {name: value for name, value in os.environ.items() if name != "HTM_URL"}
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, namespace],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    server, said = program.stdout.readline().split(" ", 1)
    assert said == "Mara prefers tabs.\n"
    assert is_running(int(server))
    if is_killed:
        program.send_signal(signal.SIGKILL)
    program.communicate()
    deadline = time.monotonic() + 60
    while is_running(int(server)):
        assert time.monotonic() < deadline, "the server goes on"
        time.sleep(0.05)


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
