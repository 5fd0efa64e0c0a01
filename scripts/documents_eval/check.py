#!/usr/bin/env python3
"""Checks that every phrase of questions.jsonl stands exactly once in its page, below its heading."""

import pathlib
import sys

from chunk import sections
from score import plain, read

HERE = pathlib.Path(__file__).resolve().parent


def faults(questions, pages):
    ids = [question["id"] for question in questions]
    yield from (f"{name} is there twice" for name in sorted({name for name in ids if ids.count(name) > 1}))
    for question in questions:
        for answer in question["answers"]:
            where = f"{question['id']}, {answer['page']}"
            if answer["page"] not in pages:
                yield f"{where}: no such page"
                continue
            found = plain(pages[answer["page"]]).count(answer["phrase"])
            if found != 1:
                yield f"{where}: the phrase stands there {found} times: {answer['phrase']}"
            headings = [
                path[-1] if path else ""
                for path, lines in sections(pages[answer["page"]])
                if answer["phrase"] in plain("\n".join(lines))
            ]
            if headings != [answer["heading"]]:
                yield f"{where}: the phrase stands below {headings}, not below {answer['heading']!r}"


def main():
    root = HERE / "corpus" / "pages"
    pages = {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*.md")}
    questions = read(HERE / "questions.jsonl")
    found = list(faults(questions, pages))
    print(*found, sep="\n", end="\n" if found else "")
    answers = sum(len(question["answers"]) for question in questions)
    print(f"{len(questions)} questions, {answers} passages, {len(pages)} pages, {len(found)} faults")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
