"""The tiny models of `tests/families.rs`, and what sentence-transformers makes of texts with them.

Random weights and tokenizers that are trained on demo/memories.jsonl: as small as a family's code paths allow. Each
directory gets `expected.json`, with the vectors of documents and queries. A text beyond the window, which
sentence-transformers would cut off, is embedded in equal parts here, by the same encoder.

    python3 -m venv /tmp/v && /tmp/v/bin/pip install sentence-transformers
    /tmp/v/bin/python crates/htm-providers/tests/data/reference.py
"""

import json
import shutil
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Normalize, Pooling, Transformer
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

HERE = Path(__file__).resolve().parent
CORPUS = [json.loads(line)["text"] for line in (HERE.parents[3] / "demo/memories.jsonl").open(encoding="utf-8")]
SHAPE = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 40}
TEXTS = [
    "The planner chose the index.",
    "",
    "a",
    "naïve café 🦀 שלום 日本語 Straße",
    "  two  spaces,\n\ta tab and an end ",
    "HNSW indexes vectors in layers. " * 3,
    "The backup of the ledger cluster no longer fits into the nightly window. " * 14,
    "unbroken" * 40,
]


def trained_word_pieces(special):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=200, limit_alphabet=50, special_tokens=special)
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def word_pieces():
    tokenizer = trained_word_pieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer, {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}


def marked_words():
    """MPNet's: word pieces with the marks of RoBERTa."""
    tokenizer = trained_word_pieces(["<s>", "<pad>", "</s>", "[UNK]", "<mask>"])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return tokenizer, {"pad_token": "<pad>", "unk_token": "[UNK]", "bos_token": "<s>", "eos_token": "</s>"}


def unigram():
    """XLM-RoBERTa's, with NFKC in the place of its table of characters."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(r"\s{2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(vocab_size=200, special_tokens=special, unk_token="<unk>")
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return tokenizer, {"pad_token": "<pad>", "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}


def bytes_():
    """RoBERTa's."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.BpeTrainer(vocab_size=320, special_tokens=special,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return tokenizer, {"pad_token": "<pad>", "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}


def random_weights(model):
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            if "LayerNorm.weight" in name or "layer_norm.weight" in name:
                parameter.copy_(1 + 0.2 * noise)
            else:
                parameter.copy_((0.5 if parameter.dim() == 2 else 0.1) * noise)
    return model


def save(name, make, config, tokenizer, window, pooling, prompts=None, dtype=None, rename=None):
    directory = HERE / name
    shutil.rmtree(directory, ignore_errors=True)
    scratch = HERE / "scratch"
    fast, marks = tokenizer
    config.vocab_size = fast.get_vocab_size()
    encoder = random_weights(make(config))
    encoder.to(dtype or torch.float32).save_pretrained(scratch)
    wrapped = transformers.PreTrainedTokenizerFast(tokenizer_object=fast, model_max_length=window, **marks)
    wrapped.save_pretrained(scratch)
    # In f32, whatever precision the weights are kept in.
    module = Transformer(str(scratch), max_seq_length=window, model_kwargs={"dtype": torch.float32})
    parts = [module, Pooling(config.hidden_size, pooling_mode=pooling), Normalize()]
    model = SentenceTransformer(modules=parts, prompts=prompts, device="cpu")
    model.save(str(directory), create_model_card=False)
    shutil.copy(scratch / "model.safetensors", directory)
    if rename:
        tensors = load_file(directory / "model.safetensors")
        save_file({rename + key: tensor for key, tensor in tensors.items()}, directory / "model.safetensors")
    shutil.rmtree(scratch)
    expected = {"texts": TEXTS, "document": [], "query": [], "parts": []}
    prefixes = {"query": (prompts or {}).get("query", ""),
                "document": (prompts or {}).get("passage", (prompts or {}).get("document", ""))}
    for purpose, prefix in prefixes.items():
        for text in TEXTS:
            vector, parts = embed(model, fast, prefix, text, window)
            expected[purpose].append([round(float(x), 7) for x in vector])
            if purpose == "document":
                expected["parts"].append(parts)
    (directory / "expected.json").write_text(json.dumps(expected, ensure_ascii=False) + "\n", encoding="utf-8")


def embed(model, tokenizer, prefix, text, window):
    plain = Tokenizer.from_str(tokenizer.to_str())
    plain.no_truncation()
    plain.no_padding()
    if len(plain.encode(prefix + text).ids) <= window:
        return model.encode(prefix + text, prompt=""), 1
    first, *_, last = plain.encode("a").ids
    before = plain.encode(prefix.rstrip(), add_special_tokens=False).ids
    ids = plain.encode(text, add_special_tokens=False).ids
    room = window - 2 - len(before)
    count = -(-len(ids) // room)
    total = 0
    for part in range(count):
        tokens = [first, *before, *ids[part * len(ids) // count:(part + 1) * len(ids) // count], last]
        given = {"input_ids": torch.tensor([tokens]), "attention_mask": torch.ones(1, len(tokens), dtype=torch.long)}
        with torch.no_grad():
            total = total + model(given)["sentence_embedding"][0] * len(tokens)
    return total / total.norm(), count


def old_layout(name):
    """The files as sentence-transformers wrote them before its version 5."""
    directory = HERE / name
    file = directory / "1_Pooling/config.json"
    new = json.loads(file.read_text())
    flags = {f"pooling_mode_{kind}": kind.startswith(new["pooling_mode"])
             for kind in ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens")}
    flags["pooling_mode_mean_sqrt_len_tokens"] = False
    file.write_text(json.dumps({"word_embedding_dimension": new["embedding_dimension"], **flags}, indent=2) + "\n")
    window = json.loads((directory / "tokenizer_config.json").read_text())["model_max_length"]
    said = {"max_seq_length": window, "do_lower_case": False}
    (directory / "sentence_bert_config.json").write_text(json.dumps(said, indent=2) + "\n")
    modules = json.loads((directory / "modules.json").read_text())
    for module in modules:
        module["type"] = "sentence_transformers.models." + module["type"].rsplit(".")[-1]
    (directory / "modules.json").write_text(json.dumps(modules, indent=2) + "\n")


def main():
    t = transformers
    save("bert", t.BertModel, t.BertConfig(**SHAPE, max_position_embeddings=64), word_pieces(), 48, "mean", rename="bert.")
    old_layout("bert")
    save("bge", t.BertModel, t.BertConfig(**SHAPE, max_position_embeddings=64), word_pieces(), 64, "cls",
         prompts={"query": "Represent this: ", "document": ""}, dtype=torch.float16)
    # Long enough that the farthest distances share a bucket.
    save("mpnet", t.MPNetModel, t.MPNetConfig(**SHAPE, max_position_embeddings=178), marked_words(), 176, "mean",
         rename="mpnet.")
    save("xlm-roberta", t.XLMRobertaModel,
         t.XLMRobertaConfig(**SHAPE, max_position_embeddings=66, type_vocab_size=1, pad_token_id=1), unigram(), 64,
         "mean", prompts={"query": "query: ", "passage": "passage: "}, dtype=torch.bfloat16)
    save("roberta", t.RobertaModel,
         t.RobertaConfig(**SHAPE, max_position_embeddings=66, type_vocab_size=1, pad_token_id=1), bytes_(), 64, "max",
         rename="roberta.")
    save("distilbert", t.DistilBertModel,
         t.DistilBertConfig(dim=24, n_layers=2, n_heads=3, hidden_dim=40, max_position_embeddings=64), word_pieces(), 64,
         "mean")


if __name__ == "__main__":
    main()
