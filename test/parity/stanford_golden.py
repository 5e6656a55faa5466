"""Tiny checkpoints of Stanford's ColBERT, with the answers of MultiVectorEncoder, as queries, as documents and as
neither. How to run it: see make_golden.py."""

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import embedding_golden as golden
import embedding_specs as specs
import late_interaction_golden as late
import safetensors.torch
import tiny_models
import torch
import transformers
from sentence_transformers import MultiVectorEncoder

DIMENSIONS = 8


@dataclass(frozen=True)
class Stanford:
    """One directory. `metadata`: of artifact.metadata; None: there is no such file."""

    name: str
    family: specs.Family
    metadata: dict | None = field(default_factory=dict)
    dimensions: int = DIMENSIONS
    binary: bool = False  # pytorch_model.bin
    every: int = 1  # of its answers, so many are kept


BERT, DISTILBERT = (specs.FAMILIES[index] for index in (1, 5))
LAYOUTS = [
    Stanford(
        "stanford",
        BERT,
        {
            "query_token_id": "[unused0]",
            "doc_token_id": "[unused1]",
            "dim": DIMENSIONS,
            "query_maxlen": 16,
            "doc_maxlen": 20,
            "mask_punctuation": True,
            "attend_to_mask_tokens": False,
        },
    ),
    Stanford(
        "stanford-attended",
        DISTILBERT,
        {
            "query_token_id": "[unused1]",
            "doc_token_id": "[unused0]",
            "dim": DIMENSIONS,
            "query_maxlen": 12,
            "doc_maxlen": 24,
            "mask_punctuation": False,
            "attend_to_mask_tokens": True,
        },
        binary=True,
    ),
    Stanford("stanford-plain", BERT, None, dimensions=128, every=5),
]


def make(directory: Path) -> None:
    for layout in LAYOUTS:
        make_layout(directory / layout.name, layout)


def make_layout(directory: Path, layout: Stanford) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    save(directory, layout)
    if layout.metadata is not None:
        (directory / "artifact.metadata").write_text(json.dumps(layout.metadata, indent=4) + "\n")
    model = MultiVectorEncoder(str(directory), device="cpu", model_kwargs=golden.FLOAT32)
    rows = late.encode_all(model)
    exact = late.encode_all(model.double())
    for row, other in zip(rows, exact):
        golden.check(str(directory), torch.tensor(row["values"]), torch.tensor(other["values"]).double())
    golden.write_golden(directory, {"name": "embedding"}, {}, rows[:: layout.every])


def save(directory: Path, layout: Stanford) -> None:
    """As colbert-ai does: a class of its own, whose encoder stands beside the projection (HF_ColBERT)."""
    golden.save_encoder(directory, "Model", layout.family.spec(model_max_length=40))
    add_markers(directory / "tokenizer.json")
    encoder = transformers.AutoModel.from_pretrained(directory)
    torch.manual_seed(1)
    linear = torch.nn.Linear(encoder.config.hidden_size, layout.dimensions, bias=False)
    golden.randomize(linear)
    prefix = encoder.base_model_prefix
    weights = {f"{prefix}.{name}": weight for name, weight in encoder.state_dict().items()}
    weights["linear.weight"] = linear.weight.detach().clone()
    for file in directory.glob("model*.safetensors"):
        file.unlink()
    if layout.binary:
        torch.save(weights, directory / "pytorch_model.bin")
    else:
        safetensors.torch.save_file(weights, directory / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((directory / "config.json").read_text())
    config["architectures"] = ["HF_ColBERT"]
    (directory / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def add_markers(file: Path) -> None:
    """In the place of the last words of the vocabulary, as BERT has them."""
    tokenizer = json.loads(file.read_text())
    vocabulary = tokenizer["model"]["vocab"]
    last = sorted(vocabulary, key=vocabulary.get)[-2:]
    for word, marker in zip(last, ("[unused0]", "[unused1]")):
        vocabulary[marker] = vocabulary.pop(word)
    file.write_text(json.dumps(tokenizer, ensure_ascii=False))
    tiny_models.compact(file)
