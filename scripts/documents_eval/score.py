#!/usr/bin/env python3
"""Scores runs: score.py RUN.jsonl [OTHER.jsonl ...]. The first run is compared with each other one.

A run has a line a question: {"id", "hits": [{"page", "text"}, ...]}, best hit first, 10 or more.

R@k        the share of questions with a right page among the first k hits
MRR        the mean of one over the rank of the first right page, 0 if no hit is of one
hit@k      the share with the passage among the first k hits: a hit is of a right page, and its text
           contains that page's phrase
hit@8000c  the share with the passage in the first 8,000 characters of the hits, one after the other:
           it compares chunkings of any size at one price
chars      the mean length of the first ten hits together

Texts are compared after plain(): without Markdown's marks, and each run of white space is one space.
"""

import argparse
import json
import pathlib
import random
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
METRICS = ("R@1", "R@5", "R@10", "MRR", "hit@5", "hit@10", "hit@8000c", "chars")
DEPTH = 10
BUDGET = 8000


def plain(text):
    text = re.sub(r"\[([^\[\]]*)\]\([^()\s]*\)", r"\1", text)
    text = re.sub(r"\[([^\[\]]*)\]\([^()\s]*\)", r"\1", text)
    return " ".join(re.sub(r"[`*]|^\s*>", "", text, flags=re.M).split())


def read(path):
    with open(path) as file:
        return [json.loads(line) for line in file if line.strip()]


def answers(question, hit):
    text = plain(hit["text"])
    return any(hit["page"] == answer["page"] and plain(answer["phrase"]) in text for answer in question["answers"])


def within_budget(question, hits):
    """Whether the passage is in the hits' first BUDGET characters, as a prompt of that size has them."""
    left = BUDGET
    for hit in hits:
        if answers(question, {"page": hit["page"], "text": hit["text"][:left]}):
            return True
        left -= len(hit["text"])
        if left <= 0:
            return False
    return False


def measure(question, hits):
    """The value of each metric for one question."""
    right = {answer["page"] for answer in question["answers"]}
    page_ranks = [rank for rank, hit in enumerate(hits) if hit["page"] in right]
    passage_ranks = [rank for rank, hit in enumerate(hits[:DEPTH]) if answers(question, hit)]
    page = min(page_ranks, default=len(hits))
    passage = min(passage_ranks, default=DEPTH)
    values = [float(page < min(depth, len(hits))) for depth in (1, 5, 10)]
    values.append(1 / (page + 1) if page_ranks else 0.0)
    values += [float(passage < depth) for depth in (5, 10)]
    values.append(float(within_budget(question, hits)))
    values.append(float(sum(len(hit["text"]) for hit in hits[:DEPTH])))
    return dict(zip(METRICS, values))


def scores(questions, path):
    run = {line["id"]: line["hits"] for line in read(path)}
    missing = [question["id"] for question in questions if question["id"] not in run]
    if missing:
        sys.exit(f"{path} answers {len(questions) - len(missing)} of {len(questions)} questions; {missing[0]} is missing.")
    return [measure(question, run[question["id"]]) for question in questions]


def mean(values):
    return sum(values) / len(values)


def interval(first, other, samples, seed):
    """The mean difference other - first and its 95 % interval over resampled questions."""
    differences = [b - a for a, b in zip(first, other)]
    generator = random.Random(seed)
    means = sorted(mean(generator.choices(differences, k=len(differences))) for _ in range(samples))
    return mean(differences), means[int(samples * 0.025)], means[int(samples * 0.975) - 1]


def show(name, value):
    return f"{value:,.0f}" if name == "chars" else f"{value:.3f}"


def row(cells):
    print("| " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=pathlib.Path)
    parser.add_argument("--questions", type=pathlib.Path, default=HERE / "questions.jsonl")
    parser.add_argument("--kinds", action="store_true", help="each kind of question by itself too")
    parser.add_argument("--samples", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    questions = read(arguments.questions)
    results = {path: scores(questions, path) for path in arguments.runs}
    kinds = [""] + sorted({question["kind"] for question in questions}) * arguments.kinds
    row(["run", "questions", *METRICS])
    row(["---"] * (len(METRICS) + 2))
    for kind in kinds:
        chosen = [number for number, question in enumerate(questions) if kind in ("", question["kind"])]
        for path, result in results.items():
            values = [show(name, mean([result[number][name] for number in chosen])) for name in METRICS]
            row([f"{path.stem} {kind}".strip(), f"{len(chosen)}", *values])
    first = arguments.runs[0]
    for other in arguments.runs[1:]:
        print(f"\n{other.stem} minus {first.stem}, with the 95 % interval:\n")
        row(["metric", "difference", "from", "to"])
        row(["---"] * 4)
        for name in METRICS:
            columns = [[value[name] for value in results[path]] for path in (first, other)]
            row([name, *(show(name, value) for value in interval(*columns, arguments.samples, arguments.seed))])


if __name__ == "__main__":
    main()
