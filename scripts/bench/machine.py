"""The machine and the versions of a run."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, distributions, version
from pathlib import Path

from bench.environment import ROOT

PACKAGES = ("mem0ai", "langgraph-checkpoint-postgres", "psycopg", "httpx", "numpy")


def machine():
    return {
        "processor": _first("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory": f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
    }


def load_average():
    return round(os.getloadavg()[0], 1)


def versions(programs):
    found = {"HTM": programs.version(), "commit": _commit(), "Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def packages():
    """Every installed package with its version."""
    return dict(sorted((it.metadata["Name"], it.version) for it in distributions()))


def _commit():
    asked = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _first(path, name):
    """The first value of this name in a file of Linux."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name)), None)
