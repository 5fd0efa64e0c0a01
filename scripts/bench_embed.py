#!/usr/bin/env python3
"""How fast the local model embeds, beside onnxruntime and sentence-transformers: the same texts, the same weights, all
cores, one run in which the three take turns.

  bench_embed.py [--texts FILE.jsonl] [--count 2000] [--rounds 3] [--model DIR] [--onnx FILE]

ours                   release build, 64 texts a call as they come, like the embed-worker
onnxruntime            fp32, exported by torch, attention fused, all texts sorted by length, batches of 32
sentence-transformers  encode(), batches of 32, which sorts by length itself

Without --texts, the texts are made of the sentences of demo/memories.jsonl, one to twelve a text. A FILE has a JSON
object with `text` (or a JSON string) on each line. Texts beyond the model's window are left out: ours would embed
all of them, the others only the beginning.

The two others and torch come from PyPI into a directory that is removed afterwards (pip's own settings hold; torch
brings gigabytes unless they name an index with its CPU build). HTM_BENCH_VENV names a virtual environment that has
them. Where PyPI cannot be reached it says so, and ends with status 0.
"""

import argparse
import json
import os
import random
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ["sentence-transformers", "onnx", "onnxruntime"]
OTHERS_BATCH = 32
OURS_BATCH = 64


def shipped_texts(count):
    """`count` texts of one to twelve sentences that the project ships; the same ones every time."""
    sentences = []
    for line in (ROOT / "demo/memories.jsonl").read_text(encoding="utf-8").splitlines():
        sentences += re.split(r"(?<=[.!?])\s+", json.loads(line)["text"])
    draw = random.Random(20)
    # Most texts are short, and a few are long, as with notes and turns of a talk.
    counts = [min(12, 1 + int(draw.expovariate(0.6))) for _ in range(count)]
    return [" ".join(draw.choices(sentences, k=k)) for k in counts]


def given_texts(path, count):
    lines = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    return [line if isinstance(line, str) else line["text"] for line in lines][:count]


class Engine:
    """A process that embeds all texts for each line that it is sent, and answers with the seconds."""

    def __init__(self, name, command):
        self.name, self.rounds = name, []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answer("ready")

    def answer(self, wanted=None):
        line = self.process.stdout.readline().strip()
        if not line or (wanted and line != wanted):
            raise SystemExit(f"bench-embed: {self.name} ended early")
        return line

    def round(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        self.rounds.append(float(self.answer()))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def serve(embed, vectors):
    """The other side of Engine: `embed()` gives a row a text."""
    print("ready", flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        rows = embed()
        print(time.perf_counter() - start, flush=True)
        vectors.write_bytes(rows.astype("<f4").tobytes())


def serve_onnx(args, texts):
    import numpy
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = os.cpu_count()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = onnxruntime.InferenceSession(str(args.onnx), options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.enable_padding()
    inputs = [given.name for given in session.get_inputs()]

    def embed(texts=texts):
        order = sorted(range(len(texts)), key=lambda text: len(texts[text]))
        rows = [None] * len(texts)
        for at in range(0, len(order), OTHERS_BATCH):
            batch = order[at:at + OTHERS_BATCH]
            encodings = tokenizer.encode_batch([texts[text] for text in batch])
            fed = {
                "input_ids": numpy.array([encoding.ids for encoding in encodings], dtype=numpy.int64),
                "attention_mask": numpy.array([encoding.attention_mask for encoding in encodings], dtype=numpy.int64),
            }
            fed["token_type_ids"] = numpy.zeros_like(fed["input_ids"])
            hidden = session.run(None, {name: fed[name] for name in inputs})[0]
            mask = fed["attention_mask"][:, :, None].astype(numpy.float32)
            mean = (hidden * mask).sum(1) / mask.sum(1)
            mean /= numpy.linalg.norm(mean, axis=1, keepdims=True)
            for text, row in zip(batch, mean):
                rows[text] = row
        return numpy.stack(rows)

    embed(texts[:OURS_BATCH])
    serve(embed, args.vectors)


def serve_sentence_transformers(args, texts):
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(os.cpu_count())
    model = SentenceTransformer(str(args.model), device="cpu")

    def embed(texts=texts):
        return model.encode(texts, batch_size=OTHERS_BATCH, normalize_embeddings=True, show_progress_bar=False)

    embed(texts[:OURS_BATCH])
    serve(embed, args.vectors)


def export(args):
    """The model as ONNX, from the same weights, with BERT's operators fused by onnxruntime's own optimizer."""
    import torch
    from onnxruntime.transformers.fusion_options import FusionOptions
    from onnxruntime.transformers.optimizer import optimize_model
    from transformers import AutoModel

    model = AutoModel.from_pretrained(args.model, dtype=torch.float32, attn_implementation="eager").eval()

    class Hidden(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask, token_type_ids):
            return self.model(input_ids=input_ids, attention_mask=attention_mask,
                              token_type_ids=token_type_ids).last_hidden_state

    names = ["input_ids", "attention_mask", "token_type_ids"]
    ids = torch.randint(5, 1000, (3, 17))
    # The exporter by tracing: of its graph the optimizer fuses attention, of the newer one's it does not.
    torch.onnx.export(Hidden(), (ids, torch.ones_like(ids), torch.zeros_like(ids)), str(args.onnx), dynamo=False,
                      input_names=names, output_names=["hidden"], opset_version=17,
                      dynamic_axes={name: {0: "batch", 1: "length"} for name in names})
    config = model.config
    fused = optimize_model(str(args.onnx), model_type="bert", num_heads=config.num_attention_heads,
                           hidden_size=config.hidden_size, optimization_options=FusionOptions("bert"), opt_level=0)
    fused.save_model_to_file(str(args.onnx))
    print(f"fused attention layers: {fused.get_fused_operator_statistics()['Attention']} of {config.num_hidden_layers}")


def within_window(args, texts):
    """The texts that the model reads whole, and their tokens together."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    file = args.model / "sentence_bert_config.json"
    window = json.loads(file.read_text()).get("max_seq_length", 256) if file.exists() else 256
    lengths = [len(encoding.ids) for encoding in tokenizer.encode_batch(texts)]
    kept = [(text, length) for text, length in zip(texts, lengths) if length <= window]
    (args.work / "texts.jsonl").write_text("".join(json.dumps(text) + "\n" for text, _ in kept))
    lengths = sorted(length for _, length in kept)
    print(f"{len(kept)} texts of {len(texts)} within {window} tokens; tokens: median {lengths[len(lengths) // 2]}, "
          f"mean {statistics.mean(lengths):.1f}, longest {lengths[-1]}", flush=True)


def virtual_environment(work):
    """The python that has the others, or none with a reason."""
    named = os.environ.get("HTM_BENCH_VENV")
    if named:
        return Path(named) / "bin/python"
    subprocess.run([sys.executable, "-m", "venv", str(work / "venv")], check=True)
    python = work / "venv/bin/python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "--no-cache-dir", "--quiet"]
    done = subprocess.run([*pip, "install", *PACKAGES], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "TMPDIR": str(work)})
    if done.returncode != 0:
        said = [line for line in done.stdout.splitlines() if line.strip()]
        print(f"bench-embed: skipped, for pip could not install {', '.join(PACKAGES)}: {said[-1] if said else ''}")
        return None
    return python


def farthest(one, other):
    a, b = one.read_bytes(), other.read_bytes()
    return max(abs(x - y) for x, y in zip(struct.unpack(f"<{len(a) // 4}f", a), struct.unpack(f"<{len(b) // 4}f", b)))


def compare(args, texts):
    work = args.work
    python = virtual_environment(work)
    if python is None:
        return
    built = ["cargo", "build", "--release", "--example", "embed_rounds", "-p", "htm-providers"]
    subprocess.run(built, check=True, cwd=ROOT)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    (work / "texts.jsonl").write_text("".join(json.dumps(text) + "\n" for text in texts), encoding="utf-8")
    me = [str(python), __file__, "--model", str(args.model), "--texts", str(work / "texts.jsonl"),
          "--onnx", str(args.onnx or work / "model.onnx"), "--work", str(work), "--count", str(args.count)]
    subprocess.run([*me, "--part", "window"], check=True)
    if not args.onnx:
        subprocess.run([*me, "--part", "export"], check=True, stderr=subprocess.DEVNULL)
    vectors = {name: work / f"{name}.f32" for name in ("ours", "onnx", "st")}
    engines = {
        "ours": Engine("ours", [str(target / "release/examples/embed_rounds"), str(args.model),
                                str(work / "texts.jsonl"), str(OURS_BATCH), str(vectors["ours"])]),
        "onnx": Engine("onnxruntime", [*me, "--part", "onnx", "--vectors", str(vectors["onnx"])]),
        "st": Engine("sentence-transformers", [*me, "--part", "st", "--vectors", str(vectors["st"])]),
    }
    count = sum(1 for _ in open(work / "texts.jsonl", encoding="utf-8"))
    for number in range(args.rounds):
        for engine in engines.values():
            engine.round()
            print(f"round {number + 1}: {engine.name} {count / engine.rounds[-1]:.0f} texts/s", file=sys.stderr, flush=True)
    for engine in engines.values():
        engine.close()
    median = {name: statistics.median(engine.rounds) for name, engine in engines.items()}
    print(f"{'':22}{'texts/s':>9}{'ours is':>9}   rounds")
    for name, engine in engines.items():
        rounds = ", ".join(f"{count / seconds:.0f}" for seconds in engine.rounds)
        print(f"{engine.name:22}{count / median[name]:9.0f}{median[name] / median['ours']:8.2f}x   {rounds}")
    print(f"components apart at most: {farthest(vectors['ours'], vectors['onnx']):.1e} from onnxruntime, "
          f"{farthest(vectors['ours'], vectors['st']):.1e} from sentence-transformers")


def home():
    sys.path.insert(0, str(ROOT / "scripts"))
    import setup

    return setup.htm_home()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", type=Path, default=None)
    parser.add_argument("--onnx", type=Path, help="an exported model, instead of exporting it")
    for hidden in ("--part", "--work", "--vectors"):
        parser.add_argument(hidden, type=Path if hidden != "--part" else str, help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.model = args.model or home() / "models" / "all-MiniLM-L6-v2"
    texts = given_texts(args.texts, args.count) if args.texts else shipped_texts(args.count)
    parts = {
        "window": lambda: within_window(args, texts),
        "export": lambda: export(args),
        "onnx": lambda: serve_onnx(args, texts),
        "st": lambda: serve_sentence_transformers(args, texts),
    }
    if args.part:
        parts[args.part]()
        return
    with tempfile.TemporaryDirectory(prefix="htm-bench-embed-") as work:
        args.work = Path(work)
        compare(args, texts)


if __name__ == "__main__":
    main()
