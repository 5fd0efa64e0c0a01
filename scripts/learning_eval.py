#!/usr/bin/env python3
"""Judges the questions of the sets below HTM_EVAL_DIR, and evaluates what is learnt on conversations that are left out.

Each set is imported into a private server of its own. Every question is recalled over HTTP, and the memories that answer
it are given as feedback. Then `htm learning export` writes the evidence, and the example `evaluate` of htm-learning cuts
it by namespace, fits rankings and prints its table. Standard library only.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
SETS = pathlib.Path(os.environ.get("HTM_EVAL_DIR", ROOT / "../shared/eval"))


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def post(url, path, body, method="POST"):
    request = urllib.request.Request(
        url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}, method=method
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def relevant_of(folder):
    relevant = {}
    for line in lines(folder / "qrels.jsonl"):
        if line["rel"] > 0:
            relevant.setdefault(line["qid"], []).append(line["did"])
    return relevant


def row(namespace, recall):
    """A judged recall as `evaluate` reads it."""
    candidates = recall["candidates"]
    used = sum(bool(it["is_used"]) for it in candidates)
    return {
        "qid": recall["recall"],
        "group": namespace,
        "relevant": used + recall["missed"],
        "rows": [[int(bool(it["is_used"])), *it["features"]] for it in candidates],
    }


def judge(folder, programs, work):
    """Writes the judged recalls of a set to a file of `work`."""
    env = dict(os.environ, HTM_DATA_DIR=str(work / "data"), HTM_SERVER__LISTEN="127.0.0.1:0")
    env |= {"HTM_DATABASE__URL": "", "HTM_DATABASE__URL_FILE": ""}

    def htm(*arguments, **more):
        return subprocess.run([programs / "htm", *arguments], env=env, check=True, **more)

    htm("db", "up", stdout=subprocess.DEVNULL)
    htm("db", "migrate", stdout=subprocess.DEVNULL)
    htm("import", folder / "corpus.jsonl")
    subprocess.run([programs / "embed-worker", "--drain"], env=env, check=True, stdout=subprocess.DEVNULL)
    server = subprocess.Popen(
        [programs / "htm", "serve", "--json", "--until-stdin-closes"],
        env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    try:
        url = json.loads(server.stdout.readline())["url"]
        questions, relevant = lines(folder / "queries.jsonl"), relevant_of(folder)
        namespaces = sorted({question.get("ns", "default") for question in questions})
        ids = {}
        for namespace in namespaces:
            post(url, "/v1/learning", {"namespace": namespace, "is_on": True, "least": 100_000}, "PUT")
        for question in questions:
            namespace = question.get("ns", "default")
            ask = {"query": question["text"], "filter": {"namespaces": [namespace]}, "limit": 10}
            recalled = post(url, "/v1/recall", ask)
            used = []
            for key in relevant.get(question["id"], [])[:100]:
                if (namespace, key) not in ids:
                    path = f"/v1/memories/by-key/{urllib.request.quote(key, safe='')}?namespace={namespace}"
                    with urllib.request.urlopen(url + path) as answer:
                        ids[namespace, key] = json.load(answer)["id"]
                used.append(ids[namespace, key])
            if used and recalled.get("recall_id"):
                post(url, f"/v1/recalls/{recalled['recall_id']}/feedback", {"used": used})
        with open(work / f"{folder.name}.jsonl", "wb") as file:
            for namespace in namespaces:
                exported = htm("learning", "export", "--namespace", namespace, stdout=subprocess.PIPE).stdout
                for line in exported.splitlines():
                    file.write(json.dumps(row(namespace, json.loads(line))).encode() + b"\n")
    finally:
        server.stdin.close()
        server.wait()
        htm("db", "down", stdout=subprocess.DEVNULL)
        shutil.rmtree(work / "data", ignore_errors=True)


def main():
    folders = [path.parent for path in sorted(SETS.glob("*/corpus.jsonl"))]
    if not folders:
        print(f"eval-learning: no set below {SETS}; nothing to do")
        return
    release = ["--release"]
    subprocess.run(["cargo", "build", *release, "--workspace", "--bins", "--examples"], cwd=ROOT, check=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
    with tempfile.TemporaryDirectory(prefix="htm-learning.") as name:
        work = pathlib.Path(name)
        work.chmod(0o755)  # PostgreSQL of root runs as another user, who must get there
        for folder in folders:
            print(f"{folder.name}: judging", file=sys.stderr)
            judge(folder, target, work)
        subprocess.run([target / "examples" / "evaluate", work, *sys.argv[1:]], check=True)


if __name__ == "__main__":
    main()
