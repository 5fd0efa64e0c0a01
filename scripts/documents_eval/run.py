#!/usr/bin/env python3
"""Imports folders of chunks into HTM, waits for their embeddings and asks all questions.

Each folder is a chunking: JSON Lines files of {"page", "heading", "text"}, in the order of the
page. It gets the namespace doceval-NAME, and a run goes to runs/NAME.jsonl, a line a question:
{"id", "hits": [{"page", "heading", "text"}]}. HTM_HOME names the data of HTM. The commands are
`htm` and `embed-worker` on the PATH, or in the folder --programs. Import skips what is there, and
the worker resumes, so an interrupted run can be repeated.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def read(path):
    with open(path) as file:
        return [json.loads(line) for line in file if line.strip()]


def chunks_of(folder):
    """The chunks, by the key that they get: the page and the chunk's number in it."""
    chunks = {}
    for path in sorted(folder.rglob("*.jsonl")):
        for number, chunk in enumerate(read(path)):
            chunks[f"{chunk['page']}#{number}"] = chunk
    if not chunks:
        sys.exit(f"{folder} has no chunks: *.jsonl files of {{page, heading, text}}.")
    return chunks


def memories(chunks, namespace, thread):
    for key, chunk in chunks.items():
        page, number = key.rsplit("#", 1)
        memory = {"id": key, "ns": namespace, "text": chunk["text"], "source": page}
        if thread:
            memory |= {"session": page, "seq": int(number)}
        yield memory


class Htm:
    def __init__(self, programs):
        self.programs = programs
        # Without a server's address nothing is served, and each command asks the database.
        self.options = ["--set", "server.listen=", "--set", "log.level=warn"]

    def command(self, program, *arguments, after=()):
        name = str(self.programs / program) if self.programs else program
        done = subprocess.run([name, *arguments, *self.options, *after], stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"`{program} {' '.join(arguments)}` ended with {done.returncode}.\n{done.stdout}")
        return done.stdout

    def load(self, chunks, namespace, thread):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "memories.jsonl"
            with open(path, "w") as out:
                for memory in memories(chunks, namespace, thread):
                    out.write(json.dumps(memory, ensure_ascii=False) + "\n")
            print(self.command("htm", "import", str(path)).strip())

    def embed(self):
        print(self.command("embed-worker", "--drain").strip() or "The queue of embeddings is empty.")

    def batch(self, questions, chunks, namespace, limit, more):
        """All answers of one process. It prints keys; the chunks have the texts."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "queries.jsonl"
            lines = [json.dumps({"id": q["id"], "ns": namespace, "text": q["question"]}) for q in questions]
            path.write_text("\n".join(lines) + "\n")
            output = self.command("htm", "recall", "--batch", str(path), "--limit", str(limit), *more)
        for line in map(json.loads, output.splitlines()):
            yield line["qid"], [chunks[key] for key in line["ids"]]

    def single(self, questions, namespace, limit, strip, more):
        """An answer a process, with the text of the hits as recall gives it: slower, unless `htm serve` runs."""
        options = ["--json", "--namespace", namespace, "--limit", str(limit), *more]
        for question in questions:
            output = self.command("htm", "recall", *options, after=("--", question["question"]))
            yield question["id"], hits_of(json.loads(output), strip)


def hits_of(answer, strip):
    """Hits of `htm recall --json`; the source is the page, without what is before it in its path."""
    return [
        {"page": (hit["source"] or "").removeprefix(strip).partition("#")[0], "heading": "", "text": hit["content"]}
        for hit in answer["hits"]
    ]


def write(path, answers):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"id": name, "hits": hits}, ensure_ascii=False) + "\n" for name, hits in answers]
    path.write_text("".join(lines))
    print(f"{path}: {len(lines)} answers")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=pathlib.Path, help="folders of chunks; a folder's name is the chunking's")
    parser.add_argument("--ask", metavar="NAMESPACE", help="import nothing: ask a namespace that is filled already, by `htm recall --json`")
    parser.add_argument("--strip", default="", help="with --ask: what stands before a page's path in the source of a hit")
    parser.add_argument("--questions", type=pathlib.Path, default=HERE / "questions.jsonl")
    parser.add_argument("--runs", type=pathlib.Path, default=HERE / "runs")
    parser.add_argument("--programs", type=pathlib.Path, help="the folder of htm and embed-worker")
    parser.add_argument("--limit", type=int, default=20, help="hits a question")
    parser.add_argument("--thread", action="store_true", help="make a page's chunks a session, so that neighbours count")
    parser.add_argument("--load-only", action="store_true", help="import and embed, ask nothing")
    parser.add_argument("--recall", default="", help="more options of `htm recall`, for example '--strategy vector'")
    parser.add_argument("--name", default="", help="what the run's name ends in, for example -vector")
    arguments = parser.parse_args()
    if not arguments.folders and not arguments.ask:
        parser.error("name a folder of chunks, or a namespace with --ask")
    htm = Htm(arguments.programs)
    questions = read(arguments.questions)
    more = arguments.recall.split()
    for folder in arguments.folders:
        name = folder.resolve().name + ("-thread" if arguments.thread else "")
        chunks = chunks_of(folder)
        print(f"doceval-{name}: {len(chunks)} chunks")
        htm.load(chunks, f"doceval-{name}", arguments.thread)
        htm.embed()
        if not arguments.load_only:
            answers = htm.batch(questions, chunks, f"doceval-{name}", arguments.limit, more)
            write(arguments.runs / f"{name}{arguments.name}.jsonl", answers)
    if arguments.ask:
        answers = htm.single(questions, arguments.ask, arguments.limit, arguments.strip, more)
        write(arguments.runs / f"{arguments.ask}{arguments.name}.jsonl", answers)


if __name__ == "__main__":
    main()
