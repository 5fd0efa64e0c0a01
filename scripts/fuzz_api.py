#!/usr/bin/env python3
"""Calls every path of the HTTP server with generated requests, and checks the answers against its OpenAPI document.

  fuzz_api.py DIR SECONDS          against `htm up` with an empty database and a key, which it starts and stops
  fuzz_api.py DIR SECONDS URL      against a running server; what it has remembered may be changed and forgotten. Its
                                   key, if it has one, is in HTM_FUZZ_KEY.

Schemathesis, from PyPI, is fetched into DIR once. Exit status: 0 if no answer was a server error or broke the document,
1 otherwise, 3 with a line that says why Schemathesis cannot be fetched.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
from pathlib import Path

PACKAGE = "schemathesis==4.32.5"
# What a client can rely on. A generated request may be refused for more than the document can say.
CHECKS = ("not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
          "ignored_auth")
# 507 says that a namespace is full: generated requests set quotas.
SETTINGS = """[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 507]
"""
# Their bodies are streams of lines, so they are not generated.
STREAMS = ("/v1/events", "/v1/import", "/v1/export")


def fetch(place):
    done = place / ".done"
    if done.is_file() and done.read_text() == PACKAGE:
        return
    # What an interrupted run left behind.
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    venv.create(place, with_pip=True)
    command = [place / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE]
    fetched = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if fetched.returncode != 0:
        lines = fetched.stdout.strip().splitlines() or ["no reason given"]
        print(lines[-1], file=sys.stderr)
        sys.exit(3)
    done.write_text(PACKAGE)


def status(url, key):
    """The status of a request that an administrator may make."""
    request = urllib.request.Request(f"{url}/v1/keys", headers={"Authorization": f"Bearer {key}"} if key else {})
    try:
        return urllib.request.urlopen(request).status
    except urllib.error.HTTPError as error:
        return error.code


def described(place, url, key):
    """The server's OpenAPI document as a file. Without a key its security is optional: a server may be open."""
    document = json.load(urllib.request.urlopen(f"{url}/openapi.json"))
    if key:
        document["security"] = [requirement for requirement in document["security"] if requirement]
    file = place / "openapi.json"
    file.write_text(json.dumps(document))
    return file


def fuzz(place, seconds, url, key):
    settings = place / "settings.toml"
    settings.write_text(SETTINGS)
    command = [
        place / "bin" / "schemathesis", "--config-file", settings, "run", described(place, url, key), "--url", url,
        "--checks", CHECKS, "--max-time", seconds,
        *(part for path in STREAMS for part in ("--exclude-path", path)),
        # One thread: Python 3.11 parses its syntax trees in one thread at a time. The time is that of the longest wait.
        "--workers", "1", "--request-timeout", "45", "--continue-on-failure", "--warnings", "off",
        "--max-examples", "5" if int(seconds) < 120 else "500", "--generation-database", "none",
        *(["--header", f"Authorization: Bearer {key}"] if key else []),
    ]
    code = subprocess.run([str(part) for part in command], cwd=place).returncode
    # A key that a request has revoked would have made the rest of the run worthless.
    if status(url, key) != 200:
        print("the key does not work any more", file=sys.stderr)
        return 1
    return code


def with_server(work):
    """Runs `work` with the URL and the key of a server of its own."""
    programs = Path(os.environ.get("CARGO_TARGET_DIR", "target")).absolute() / "debug"
    with tempfile.TemporaryDirectory(prefix="htm-fuzz-") as data, open(Path(data) / "log", "w+") as log:
        Path(data).chmod(0o755)
        settings = {
            "HTM_DATA_DIR": f"{data}/pg", "HTM_EMBEDDING__PROVIDER": "fake", "HTM_TAG__PROVIDER": "fake",
            "HTM_SERVER__LISTEN": "127.0.0.1:0",
        }
        server = subprocess.Popen([programs / "htm", "up"], env=os.environ | settings, stdout=log, stderr=log)
        try:
            for _ in range(300):
                found = re.search(r"HTM serves (http://[0-9.:]+)", Path(log.name).read_text())
                if found:
                    create = [programs / "htm", "keys", "create", "--role", "admin", "--json"]
                    created = subprocess.run(create, env=os.environ | settings, capture_output=True, check=True)
                    url, key = found.group(1), json.loads(created.stdout)["secret"]
                    # A server asks for keys within a second of the first.
                    while status(url, None) != 401:
                        time.sleep(0.2)
                    return work(url, key)
                if server.poll() is not None:
                    break
                time.sleep(0.2)
            print(Path(log.name).read_text(), file=sys.stderr)
            return 1
        finally:
            server.terminate()
            server.wait(timeout=60)


def main():
    if len(sys.argv) not in (3, 4) or not sys.argv[2].isdigit():
        sys.exit(__doc__.strip())
    place = Path(sys.argv[1]).absolute()
    fetch(place)
    work = lambda url, key: fuzz(place, sys.argv[2], url, key)
    given = len(sys.argv) == 4
    sys.exit(1 if (work(sys.argv[3], os.environ.get("HTM_FUZZ_KEY")) if given else with_server(work)) else 0)


main()
