"""Where Oniguruma splits texts by the regular expressions that tokenizers have: what `tests/patterns.rs` holds the pure
Rust engine to. PyPI's tokenizers are built with Oniguruma.

    python3 -m venv /tmp/v && /tmp/v/bin/pip install tokenizers==0.22.2
    /tmp/v/bin/python crates/htm-providers/tests/data/patterns.py
"""

import json
from pathlib import Path

from tokenizers import Regex, pre_tokenizers

HERE = Path(__file__).resolve().parent
PATTERNS = {
    "GPT-2, RoBERTa (ByteLevel)": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "Llama 3, cl100k": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "Qwen": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "o200k": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "CLIP": r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
    "words": r"\w+|[^\w\s]+",
    "XLM-RoBERTa's spaces": r"\s{2,}",
    "T5's spaces": r" {2,}",
    "BLOOM": r" ?[^(\s|[.,!?…。,、।۔،])]+",
    "digits": r"\p{Nd}{3}(?=(?:\p{Nd}{3})*\b)",
}
TEXTS = [
    "",
    "a",
    "The planner chose the index; it's 17.2, isn't it? WE'LL see, I'D say.",
    "  two  spaces,\n\ta tab,\r\n\r\nlines and an end  ",
    "1234567 12 345.678,90 ٣٤٥ ४२ ½ Ⅷ x² 1e-9",
    "naïve café Straße İstanbul ſ ŒUVRE ǅ e\u0301 a\u0308\u0323 Ω",
    "日本語のテキスト。中文，句子！한국어 ไทย हिन्दी العربية، עברית",
    "🦀🦀 👩‍👩‍👧‍👦 🇩🇪 ✌🏽 ☃\ufe0f",
    "no\u00a0break\u2009thin\u3000wide\u2028line\u0085next\u200bzero\ufeffmark\u00adhyphen",
    "fn main() { let x: Vec<u8> = a::b(&c)?; } // --flag=1 snake_case C++ #123 foo/bar.rs",
    "tabs\t\t\tand\x0bvertical\x0cform\x1cfile\x7fdel",
    "don’t ‘quote’ “double” — dash… l'été d'accord 'S 'Re 'VE",
    "<|startoftext|> hi <|endoftext|>",
    " " * 300 + "x" + "\n" * 40 + " \n " * 20,
    "aA" * 200 + "1" * 200,
]


def pieces(pattern, text):
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    return [span for _, span in split.pre_tokenize_str(text)]


made = {
    "texts": TEXTS,
    "patterns": [
        {"name": name, "pattern": pattern, "ends": [[end for _, end in pieces(pattern, text)] for text in TEXTS]}
        for name, pattern in PATTERNS.items()
    ],
}
(HERE / "patterns.json").write_text(json.dumps(made, ensure_ascii=True, separators=(",", ":")) + "\n")
