"""Prints what `run.sh` found: `report.py tags|dead HTM JOBS.json`, `report.py model HTM WORKER.log`."""

import collections
import json
import re
import subprocess
import sys


def text_of(htm: str, node: int) -> tuple[str, list[str]]:
    answer = subprocess.run([htm, "--json", "get", str(node)], capture_output=True, text=True, check=True)
    found = json.loads(answer.stdout)
    return found["content"], found["tags"]


def main() -> None:
    what, htm, path = sys.argv[1:]
    if what == "model":
        model(path)
        return
    jobs = json.load(open(path))
    if not jobs:
        print("none")
    given, sets = 0, collections.Counter()
    for job in sorted(jobs, key=lambda job: job["node"]):
        text, tags = text_of(htm, job["node"])
        given += len(tags)
        sets[tuple(tags)] += 1
        print(f"{text}")
        print("   ", " ".join(tags) if what == "tags" else job["last_error"].replace("\n", "\n    "))
    if what == "tags" and jobs:
        same, times = sets.most_common(1)[0]
        if times > len(jobs) // 2:
            print(f"NOT READ: {times} of {len(jobs)} texts have the same tags ({' '.join(same) or 'none'}). The protocol")
            print("works; the model does not follow the texts, and says nothing of how others would tag.")
    print(f"{len(jobs)} texts" + (f", {given} tags" if what == "tags" else ""))


def model(path: str) -> None:
    lines = []
    for line in open(path):
        try:
            lines.append(json.loads(line))
        except ValueError:
            print("   ", line.rstrip())

    def count(words: str) -> int:
        return sum(words in json.dumps(line) for line in lines)

    print("asked to correct its answer:", count("asking a model to correct its answer"))
    dropped = [int(n) for line in lines for n in re.findall(r'"dropped": (\d+)', json.dumps(line))]
    print("invalid tags that were dropped:", sum(dropped), "in", len(dropped), "calls")
    ends = ("jobs failed", "jobs became dead letters")
    print("failed attempts:", sum(line["jobs"] for line in lines if line.get("message") in ends))
    for line in lines:
        if line.get("level") in ("WARN", "ERROR"):
            print("   ", json.dumps(line)[:300])


main()
