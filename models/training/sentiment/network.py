"""Build, run and save the classifier: MiniLM (6 layers, width 384) with a BERT head."""

from __future__ import annotations

import json
import os
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from tokenizers import Tokenizer
from torch.nn import functional
from transformers import BertConfig, BertForSequenceClassification

from corpus import LABELS

MAX_TOKENS = 512  # the encoder's position embeddings


def build(base: Path) -> BertForSequenceClassification:
    """The pretrained encoder and pooler of `base` under a new two-way classifier."""
    config = BertConfig.from_pretrained(
        base,
        num_labels=len(LABELS),
        id2label=dict(enumerate(LABELS)),
        label2id={name: index for index, name in enumerate(LABELS)},
    )
    return BertForSequenceClassification.from_pretrained(base, config=config, dtype=torch.float32)


def load(folder: Path) -> BertForSequenceClassification:
    """A saved classifier, computed in float32 whatever type its weights are stored in."""
    model = BertForSequenceClassification.from_pretrained(folder, dtype=torch.float32)
    return model.eval()


def load_tokenizer(folder: Path) -> Tokenizer:
    """The fast tokenizer of `folder`, unpadded and cut at `MAX_TOKENS`."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def _block(layer: torch.nn.Module, x: torch.Tensor, first_only: bool) -> torch.Tensor:
    """One encoder layer over x [rows, length, width]; `first_only` keeps the first token."""
    attention, output = layer.attention, layer.output
    heads = attention.self.num_attention_heads
    kept = x[:, :1] if first_only else x

    def split(projection: torch.nn.Linear, source: torch.Tensor) -> torch.Tensor:
        return projection(source).unflatten(-1, (heads, -1)).transpose(1, 2)

    context = functional.scaled_dot_product_attention(
        split(attention.self.query, kept),
        split(attention.self.key, x),
        split(attention.self.value, x),
        dropout_p=attention.self.dropout.p if layer.training else 0.0,
    )
    context = context.transpose(1, 2).flatten(-2)
    mixed = attention.output.dropout(attention.output.dense(context))
    mixed = attention.output.LayerNorm(mixed + kept)
    hidden = functional.gelu(layer.intermediate.dense(mixed))
    return output.LayerNorm(output.dropout(output.dense(hidden)) + mixed)


def logits(model: BertForSequenceClassification, ids: torch.Tensor) -> torch.Tensor:
    """Logits [rows, 2] for unpadded ids [rows, length].

    The same function as `model(input_ids=ids).logits`, but the last layer computes the
    first token alone (the head reads no other), which saves a seventh of the arithmetic.
    """
    x = model.bert.embeddings(input_ids=ids)
    layers = model.bert.encoder.layer
    for number, layer in enumerate(layers):
        x = _block(layer, x, first_only=number == len(layers) - 1)
    return model.classifier(model.dropout(model.bert.pooler(x)))


def save(model: BertForSequenceClassification, base: Path, folder: Path) -> None:
    """Write a Hugging Face directory: float16 weights, unpadded tokenizer of 512 tokens.

    config.json says float32, so that the stock pipeline computes in float32 from the
    float16 weights.
    """
    folder.mkdir(parents=True, exist_ok=True)
    state = {name: tensor.detach().to(torch.float16) for name, tensor in model.state_dict().items()}
    model.save_pretrained(folder, state_dict=state)
    config_path = folder / "config.json"
    config = json.loads(config_path.read_text(encoding="utf-8"))
    config.pop("_name_or_path", None)
    config["dtype"] = "float32"
    config_path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    write_tokenizer(base, folder)
    (folder / "model.safetensors").chmod(0o644)


def write_tokenizer(base: Path, folder: Path) -> None:
    """Copy the WordPiece tokenizer of `base` without its padding and its cut at 128 tokens."""
    source = json.loads((base / "tokenizer_config.json").read_text(encoding="utf-8"))
    kept = ("tokenize_chinese_chars", "strip_accents", "do_basic_tokenize", "never_split")
    special = ("unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
    settings = {name: source[name] for name in (*kept, *special)}
    settings |= {
        "do_lower_case": True,
        "model_max_length": MAX_TOKENS,
        "tokenizer_class": "BertTokenizer",
    }
    text = json.dumps(settings, indent=2, sort_keys=True) + "\n"
    (folder / "tokenizer_config.json").write_text(text, encoding="utf-8")
    plain = Tokenizer.from_file(str(base / "tokenizer.json"))
    plain.no_padding()
    plain.no_truncation()
    plain.save(str(folder / "tokenizer.json"), pretty=False)
