#!/usr/bin/env python3
"""Cuts the pages into chunks in three ways, one JSON Lines file a page: {"page", "heading", "text"}.

whole     the whole page, cut at 1 MiB
fixed     1,000 characters, each chunk overlapping the last by 100
headings  sections, then whole paragraphs and code blocks up to 1,000 characters, with the path of
          headings before the text
"""

import argparse
import json
import pathlib
import re
import shutil

HERE = pathlib.Path(__file__).resolve().parent
MOST = 1000
OVERLAP = 100
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
FENCE = re.compile(r"^\s*(`{3,}|~{3,})")


def whole(text):
    encoded = text.encode()
    for start in range(0, len(encoded), 1 << 20):
        yield "", encoded[start : start + (1 << 20)].decode(errors="ignore")


def fixed(text):
    for start in range(0, max(len(text) - OVERLAP, 1), MOST - OVERLAP):
        yield "", text[start : start + MOST]


def front_matter(text):
    """The title, and the text with its front matter replaced by title and description."""
    match = re.match(r"---\n(.*?)\n---\n", text, re.S)
    if not match:
        return "", text
    values = dict(re.findall(r"^(title|description):\s*(.*?)\s*$", match[1], re.M))
    values = {key: value.strip("'\"") for key, value in values.items()}
    return values.get("title", ""), values.get("description", "") + "\n\n" + text[match.end() :]


def blocks(lines):
    """Paragraphs and code blocks: a blank line ends a paragraph, but not a code block."""
    block, fence = [], None
    for line in lines:
        mark = FENCE.match(line)
        if fence is None and mark:
            fence = mark[1]
        elif fence is not None and mark and mark[1].startswith(fence):
            fence = None
        if line.strip() or fence is not None:
            block.append(line)
        elif block:
            yield "\n".join(block)
            block = []
    if block:
        yield "\n".join(block)


def sections(text):
    """(path of headings, lines) of each section; a heading inside a code block is no heading."""
    title, text = front_matter(text)
    path, lines, fence = [(0, title)] if title else [], [], None
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if mark:
            fence = mark[1] if fence is None else None if mark[1].startswith(fence) else fence
        heading = fence is None and HEADING.match(line)
        if not heading:
            lines.append(line)
            continue
        yield [name for _, name in path], lines
        level = len(heading[1])
        path, lines = [step for step in path if step[0] < level] + [(level, heading[2].replace("`", ""))], []
    yield [name for _, name in path], lines


def pieces(block):
    """A block's pieces of at most MOST characters, cut after a line or a word if there is one."""
    while len(block) > MOST:
        cut = max(block.rfind("\n", 1, MOST), 0) or max(block.rfind(" ", 1, MOST), 0) or MOST
        yield block[:cut]
        block = block[cut:].lstrip("\n")
    yield block


def by_headings(text):
    for path, lines in sections(text):
        heading = " > ".join(path)
        chunk = ""
        for piece in (piece for block in blocks(lines) for piece in pieces(block)):
            if chunk and len(chunk) + 2 + len(piece) > MOST:
                yield heading, chunk
                chunk = ""
            chunk = f"{chunk}\n\n{piece}" if chunk else piece
        if chunk.strip():
            yield heading, chunk


def with_path(text):
    for heading, chunk in by_headings(text):
        yield heading, f"{heading}\n\n{chunk}" if heading else chunk


CHUNKINGS = {"whole": whole, "fixed": fixed, "headings": with_path}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=pathlib.Path, default=HERE / "corpus" / "pages")
    parser.add_argument("--chunks", type=pathlib.Path, default=HERE / "chunks")
    arguments = parser.parse_args()
    for name, chunking in CHUNKINGS.items():
        shutil.rmtree(arguments.chunks / name, ignore_errors=True)
        count = characters = 0
        for path in sorted(arguments.pages.rglob("*.md")):
            page = path.relative_to(arguments.pages).as_posix()
            file = arguments.chunks / name / (page + ".jsonl")
            file.parent.mkdir(parents=True, exist_ok=True)
            with open(file, "w") as out:
                for heading, text in chunking(path.read_text()):
                    if text.strip():
                        out.write(json.dumps({"page": page, "heading": heading, "text": text}, ensure_ascii=False) + "\n")
                        count, characters = count + 1, characters + len(text)
        print(f"{name}: {count} chunks, {characters / count:.0f} characters on average")


if __name__ == "__main__":
    main()
