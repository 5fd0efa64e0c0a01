"""The comparison of `./justw bench`. scripts/bench.py runs it."""
