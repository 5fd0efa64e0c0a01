#!/usr/bin/env python3
"""HTM beside mem0, LangGraph's store and raw SQL, in one run on one PostgreSQL: writes, recall, jobs and embeddings.

  bench.py [--rows 10000,100000] [--rounds 3] [--quick] [--json FILE] [--markdown] [--programs DIR]

Every store gets the same texts with the same vectors of 384 numbers, which are looked up: only the last lines measure
embeddings. docs/benchmarks.md says how each line is measured, and what is not compared. The rivals come from PyPI,
once, with pinned versions (pip's own settings hold). One that cannot be installed is named with the reason, and the
rest goes on.

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

FULL = {"rows": "10000,100000", "rounds": 3, "questions": 200, "writes": 300, "shared_writes": 800,
        "jobs": 20_000, "texts": 1_000}
QUICK = {"rows": "1000,5000", "rounds": 1, "questions": 50, "writes": 100, "shared_writes": 320,
         "jobs": 3_000, "texts": 200}


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


def main():
    given = arguments()
    if Path(sys.prefix).resolve() != environment.place().resolve():
        python = environment.fetch()
        os.execv(python, [str(python), *sys.argv])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the cluster is removed then too
    from bench.run import run  # needs the packages of the environment

    run(given)


if __name__ == "__main__":
    main()
