"""Tiny models of late interaction (ColBERT) with the answers of sentence-transformers, as queries, as
documents and as neither. How to run it: see make_golden.py."""

import json
import shutil
import string
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import embedding_golden as golden
import embedding_specs as specs
import tiny_models
import torch
from sentence_transformers import MultiVectorEncoder
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
from texts import TEXTS

PROMPTS = {"query": "[Q] ", "document": "[D] "}
BERT, MODERNBERT, MPNET, ROBERTA = (specs.FAMILIES[index] for index in (1, 8, 9, 10))


@dataclass(frozen=True)
class Late:
    """One directory. `transformer`: what says how long texts are; `mask`: which tokens have no vector."""

    name: str
    family: specs.Family
    transformer: dict = field(default_factory=dict)
    mask: dict = field(default_factory=dict)
    prompts: dict = field(default_factory=lambda: PROMPTS)
    default_prompt: str | None = None


PUNCTUATION = list(string.punctuation)
LAYOUTS = [
    Late("lengths", BERT, {"query_length": 8, "document_length": 30}, {"skiplist_words": PUNCTUATION}),
    Late(
        "fixed",
        BERT,
        {"query_expansion": {"strategy": "fixed", "length": 16}, "document_length": 20},
        {"skiplist_words": [*PUNCTUATION, "[SEP]", "no-such-word"]},
    ),
    Late(
        "fixed-attended",
        ROBERTA,
        {"query_expansion": {"strategy": "fixed", "length": 16, "attend": True}},
        {"skiplist_words": ["."], "skiplist_tasks": ["query", "document"]},
        prompts={},
    ),
    Late(
        "min",
        MPNET,
        {"query_expansion": {"strategy": "min", "length": 12}, "query_length": 20},
        {"skiplist_words": PUNCTUATION, "skiplist_tasks": "query"},
        default_prompt="document",
    ),
    Late(
        "min-token",
        MODERNBERT,
        # Its local layers see 4 tokens to each side; see FAR for longer queries.
        {"query_expansion": {"strategy": "min", "length": 5, "token": "[SEP]"}},
    ),
]


def make(directory: Path) -> None:
    for layout in LAYOUTS:
        make_layout(directory / layout.name, layout)
    make_far(directory / "min-token", directory.with_name("late-interaction-far.json"))


# Queries that are filled up beyond the window of the local layers: tokens that attend to nothing.
FAR = [
    {"expansion": 20, "config": {}},
    {"expansion": 200, "config": {"local_attention": 128, "max_position_embeddings": 300}},
    {"expansion": 256, "config": {"local_attention": None, "max_position_embeddings": 300}},
]


def make_far(model: Path, file: Path) -> None:
    """Answers of the model `min-token` with other settings; null removes a key of config.json."""
    rows = []
    for case in FAR:
        with tempfile.TemporaryDirectory() as copy:
            shutil.copytree(model, copy, dirs_exist_ok=True)
            change(Path(copy) / "config.json", case["config"])
            expansion = {"strategy": "min", "length": case["expansion"], "token": "[SEP]"}
            change(Path(copy) / "sentence_bert_config.json", {"query_expansion": expansion})
            encoder = MultiVectorEncoder(copy, device="cpu", model_kwargs=golden.FLOAT32)
            vectors = encoder.encode_query(["good"])[0]
            rows.append({**case, "values": [[round(float(x), 6) for x in row] for row in vectors]})
    file.write_text(json.dumps(rows) + "\n")


def change(file: Path, entries: dict) -> None:
    content = {**json.loads(file.read_text()), **entries}
    file.write_text(json.dumps({key: value for key, value in content.items() if value is not None}))


def make_layout(directory: Path, layout: Late) -> None:
    source = directory.with_suffix(".source")
    golden.save_encoder(source, "Model", layout.family.spec(model_max_length=24))
    torch.manual_seed(1)
    dense = Dense(16, 8, bias=False, activation_function=torch.nn.Identity(), module_input_name="token_embeddings")
    golden.randomize(dense)
    model = MultiVectorEncoder(
        modules=[
            Transformer(str(source), **layout.transformer),
            dense,
            MultiVectorMask(**layout.mask),
            Normalize(module_input_name="token_embeddings"),
        ],
        device="cpu",
        prompts=layout.prompts,
        default_prompt_name=layout.default_prompt,
    )
    model.save(str(directory), create_model_card=False)
    shutil.rmtree(source)
    tiny_models.compact(directory / "tokenizer.json")
    model = MultiVectorEncoder(str(directory), device="cpu", model_kwargs=golden.FLOAT32)
    rows = encode_all(model)
    exact = encode_all(model.double())
    for row, other in zip(rows, exact):
        golden.check(str(directory), torch.tensor(row["values"]), torch.tensor(other["values"]).double())
    golden.write_golden(directory, {"name": "embedding"}, {}, rows)


def encode_all(model: MultiVectorEncoder) -> list[dict]:
    """Each text alone: what MultiVectorEncoder fills a batch up with changes nothing."""
    rows = []
    calls = {"query": model.encode_query, "document": model.encode_document, "text": model.encode}
    for role, encode in calls.items():
        for index in golden.INDICES:
            vectors = encode([TEXTS[index][1]])[0]
            rows.append({"text": index, "role": role, "tokens": len(vectors), "values": golden.shortest(vectors)})
    return rows
