"""The scores that `htm-providers/src/local/cross_encoder/tests.rs` holds the cross-encoder to.

A BERT of two layers with weights by a formula, computed in float64 by numpy, token by token and pair by pair, from the
paper and Hugging Face's layout of `BertForSequenceClassification`; nothing is shared with the Rust code but the formula.

    python3 -m venv /tmp/v && /tmp/v/bin/pip install numpy && /tmp/v/bin/python tests/data/cross_encoder/reference.py
"""

import math

import numpy as np

WIDTH, LAYERS, HEADS, INNER, POSITIONS, EPS = 16, 2, 2, 32, 24, 1e-12
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "who", "likes", "tabs", "##s", "tab", "mara", "prefer", "the", "sea",
              "is", "cold", "space", ".", "?"]

made = 0


def weights(*shape, scale=0.6, shift=0.0):
    """The next tensor: its number and each element's place decide its values."""
    global made
    made += 1
    places = np.arange(math.prod(shape), dtype=np.float64)
    return (shift + scale * np.sin(0.37 * places + 1.3 * made)).astype(np.float32).astype(np.float64).reshape(shape)


def norm_weights():
    return weights(WIDTH, scale=0.2, shift=1.0), weights(WIDTH, scale=0.1)


def linear_weights(inputs, outputs):
    return weights(outputs, inputs, scale=0.3), weights(outputs, scale=0.1)


# In the order in which the test makes them.
words, positions, kinds = weights(len(VOCABULARY), WIDTH), weights(POSITIONS, WIDTH), weights(2, WIDTH)
embedding_norm = norm_weights()
layers = [
    {
        "query": linear_weights(WIDTH, WIDTH), "key": linear_weights(WIDTH, WIDTH), "value": linear_weights(WIDTH, WIDTH),
        "dense": linear_weights(WIDTH, WIDTH), "attention_norm": norm_weights(),
        "up": linear_weights(WIDTH, INNER), "down": linear_weights(INNER, WIDTH), "output_norm": norm_weights(),
    }
    for _ in range(LAYERS)
]
pooler, classifier = linear_weights(WIDTH, WIDTH), linear_weights(WIDTH, 1)


def linear(x, layer):
    return x @ layer[0].T + layer[1]


def norm(x, layer):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + EPS) * layer[0] + layer[1]


def gelu(x):
    return 0.5 * x * (1.0 + np.vectorize(math.erf)(x / math.sqrt(2.0)))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def pieces(text):
    """Greedy word pieces of lower-cased words and marks of punctuation."""
    ids = []
    for word in text.lower().replace(".", " . ").replace("?", " ? ").split():
        start, found = 0, []
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in VOCABULARY:
                    found.append(VOCABULARY.index(piece))
                    start = end
                    break
            else:
                found = [1]
                break
        ids += found
    return ids


def score(query, text):
    query, text = pieces(query), pieces(text)
    room = POSITIONS - 3
    query = query[: room // 2]
    text = text[: room - len(query)]
    tokens = [2] + query + [3] + text + [3]
    kind = [0] * (len(query) + 2) + [1] * (len(text) + 1)
    x = norm(words[tokens] + positions[: len(tokens)] + kinds[kind], embedding_norm)
    size = WIDTH // HEADS
    for layer in layers:
        q, k, v = (linear(x, layer[name]) for name in ("query", "key", "value"))
        heads = []
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            heads.append(softmax(q[:, part] @ k[:, part].T / math.sqrt(size)) @ v[:, part])
        x = norm(x + linear(np.concatenate(heads, -1), layer["dense"]), layer["attention_norm"])
        x = norm(x + linear(gelu(linear(x, layer["up"])), layer["down"]), layer["output_norm"])
    return float(linear(np.tanh(linear(x[0], pooler)), classifier)[0])


LONG = "the sea is cold . " * 6
for query, texts in {
    "Who likes tabs?": ["Mara prefers tabs.", "The sea is cold.", "", "Mara prefers tabs.", LONG],
    LONG: ["tabs", LONG],
}.items():
    for text in texts:
        print(f"{query[:20]!r:24} {text[:24]!r:28} {score(query, text):.9f}")
