#!/usr/bin/env python3
"""Fetches official SDKs, whose clients the tests run. Python standard library, pip and npm only.

  sdk_clients.py python DIR       PyPI's mcp, in a virtual environment at DIR
  sdk_clients.py python-1 DIR     the same of the former generation
  sdk_clients.py javascript DIR   npm's @modelcontextprotocol/client, in DIR/node_modules
  sdk_clients.py javascript-1 DIR npm's @modelcontextprotocol/sdk, the former generation
  sdk_clients.py inspector DIR    npm's @modelcontextprotocol/inspector
  sdk_clients.py anthropic DIR    PyPI's anthropic, in a virtual environment at DIR
  sdk_clients.py client-python DIR  what our own client of Python needs, to be made, checked and tested
  sdk_clients.py client-typescript DIR  the same of TypeScript, in DIR/node_modules
  sdk_clients.py framework-NAME DIR the same, with a framework whose memory the client is: anthropic, openai-agents, …
  sdk_clients.py source-NAME DIR  a system whose memories HTM imports: mem0, letta

What is there already stays as it is; one process at a time works on a DIR. The settings of pip and npm hold. Exit status: 0 when it is in place, 1 with a line
that says what is not and why.
"""

import fcntl
import shutil
import subprocess
import sys
import venv
from pathlib import Path

CLIENT = "httpx==0.28.1 httpx-sse==0.4.3 pydantic==2.14.3 pytest==9.2.0 pytest-asyncio==1.5.0 mypy==2.4.1"
PACKAGES = {
    "python": "mcp==2.3.0",
    "python-1": "mcp==1.30.0",
    "javascript": "@modelcontextprotocol/client@2.4.0",
    "javascript-1": "@modelcontextprotocol/sdk@1.32.2",
    "inspector": "@modelcontextprotocol/inspector@2.12.0",
    "anthropic": "anthropic==2.12.0",
    "client-typescript": "typescript@7.0.2 @types/node@20.19.43",
    "client-python": f"{CLIENT} ruff==0.17.6 datamodel-code-generator==0.89.0",
    "framework-anthropic": f"{CLIENT} anthropic==2.12.0",
    "framework-agent-framework": f"{CLIENT} agent-framework-core==1.23.0",
    "framework-pydantic-ai": f"{CLIENT} pydantic-ai-harness==0.62.0",
    "framework-llama-index": f"{CLIENT} llama-index-core==0.14.25",
    "framework-langgraph": f"{CLIENT} langgraph==1.2.22 langgraph-checkpoint==4.3.2 "
    "langgraph-checkpoint-postgres==3.2.0 psycopg[binary]==3.3.9",
    "framework-openai-agents": f"{CLIENT} openai-agents==0.24.0",
    # It wants an older pydantic than the others.
    "framework-crewai": f"{CLIENT.replace('pydantic==2.14.3', 'pydantic==2.12.5')} crewai==1.15.30",
    "framework-google-adk": f"{CLIENT} google-adk==2.13.0",
    "source-mem0": "mem0ai==2.2.1 psycopg[binary,pool]==3.3.9",
    # What its models import; the package requires far more, and older packages of OpenTelemetry than the others take.
    "source-letta": "sqlalchemy[asyncio]==2.1.9 pgvector==0.5.1 psycopg[binary]==3.3.9 pydantic-settings==2.16.3 "
    "openai==3.57.0 anthropic==2.14.0 mcp==2.3.0 fastapi==0.165.0 httpx==0.28.1 asyncpg==0.32.0 aiohttp==3.14.5 "
    "orjson==3.13.0 pytz==2026.6 numpy==2.4.6 python-box==8.0.0 cryptography==50.0.2 pyyaml==6.0.4 demjson3==3.0.6 "
    "pathvalidate==3.3.1 deprecated==1.3.1 importlib-metadata==8.5.0 googleapis-common-protos==1.75.0 grpcio==1.85.3 "
    "protobuf==5.29.6 wrapt==1.17.3 packaging==26.4 requests==2.34.2 --no-deps letta==0.16.8 docstring-parser==0.16 "
    "opentelemetry-api==1.30.0 opentelemetry-sdk==1.30.0 opentelemetry-proto==1.30.0 "
    "opentelemetry-semantic-conventions==0.51b0 opentelemetry-exporter-otlp==1.30.0 "
    "opentelemetry-exporter-otlp-proto-common==1.30.0 opentelemetry-exporter-otlp-proto-grpc==1.30.0 "
    "opentelemetry-exporter-otlp-proto-http==1.30.0 opentelemetry-instrumentation==0.51b0 "
    "opentelemetry-instrumentation-requests==0.51b0 opentelemetry-instrumentation-sqlalchemy==0.51b0 "
    "opentelemetry-util-http==0.51b0",
}


def run(*command):
    """Runs a command. Its last line is the reason if it fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    except (OSError, subprocess.TimeoutExpired) as error:
        sys.exit(f"{command[0]}: {error}")
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if line.strip()] or ["no reason given"]
        sys.exit(f"{Path(command[0]).name}: {lines[-1]}")


def python(place, package):
    # Not built elsewhere and moved: its scripts have its path in them.
    venv.create(place, with_pip=True)
    whole, _, bare = package.partition(" --no-deps ")
    install = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(*install, *whole.split())
    if bare:
        run(*install, "--no-deps", *bare.split())


def javascript(place, package):
    npm = shutil.which("npm")
    if not npm or not shutil.which("node"):
        sys.exit("node or npm is not installed")
    place.mkdir()
    run(npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(place), *package.split())


def fetch(kind, place):
    done = place / ".done"
    wanted = PACKAGES[kind]
    if done.is_file() and done.read_text() == wanted:
        return
    # What an interrupted run left behind.
    shutil.rmtree(place, ignore_errors=True)
    (python if "==" in wanted else javascript)(place, wanted)
    done.write_text(wanted)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in PACKAGES:
        sys.exit(__doc__.strip())
    kind, place = sys.argv[1], Path(sys.argv[2]).absolute()
    place.parent.mkdir(parents=True, exist_ok=True)
    # Tests run beside each other, and several want the same SDK. The lock ends with the process.
    with open(place.with_name(f"{place.name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fetch(kind, place)


main()
