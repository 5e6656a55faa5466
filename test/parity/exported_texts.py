"""Tiny text classifiers exported by scripts/export.py: which there are, and how they are written."""

import importlib.util
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import tiny_models
import tiny_tokenizers as tokenizers
import torch
import transformers
from common import floats, versions, write_json
from exported_golden import save_without_traces
from texts import TEXTS
from transformers import pipeline

FILE = "model.pt2"
LENGTH = 40
VOCABULARY_SIZE = 400
SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": LENGTH,
}
SMALL_GPT = {"n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": LENGTH}
FLOAT32_ERROR = 2e-6
LABEL_MARGIN = 1e-3


@dataclass(frozen=True)
class Spec:
    name: str
    architecture: str  # "Bert" of transformers.BertForSequenceClassification, and so on
    tokenizer: Callable[..., int]
    config: dict = field(default_factory=lambda: SMALL)
    labels: int = 2
    seed: int = 0
    decomposed: bool = False


SPECS = [
    Spec("bert", "Bert", tokenizers.save_bert, labels=3),
    Spec("gpt2", "GPT2", tokenizers.save_gpt2, SMALL_GPT),
    Spec("llama", "Llama", tokenizers.save_llama, {**SMALL, "num_key_value_heads": 1}, labels=3),
]


def script():
    """scripts/export.py, which is no part of a package."""
    path = Path(__file__).resolve().parents[2] / "scripts/export.py"
    specification = importlib.util.spec_from_file_location("export_script", path)
    module = importlib.util.module_from_spec(specification)
    sys.modules["export_script"] = module
    specification.loader.exec_module(module)
    return module


def make(spec: Spec, directory: Path) -> None:
    export = script()
    with tempfile.TemporaryDirectory() as source:
        write_model(spec, Path(source))
        module, tokenizer, limit = export.load_text_model(Path(source), None)
    lengths = [11, 7]
    inputs = export.text_inputs(module, tokenizer, lengths)
    program, meaning = export.export(module, inputs, export.text_shapes(inputs, limit, False))
    save_without_traces(program, directory / FILE, spec.decomposed)
    tokenizer.save_pretrained(directory)
    module.model.config.save_pretrained(directory)
    tiny_models.compact(directory / "tokenizer.json")
    batches = [[5], [limit], lengths] if "any number" in meaning else [[5], [limit]]
    written = torch.export.load(directory / FILE).module()
    export.check(written, module, [export.text_inputs(module, tokenizer, rows) for rows in batches])
    make_golden(module, tokenizer, limit, directory)
    print(f"{directory.name}: {(directory / FILE).stat().st_size} bytes, {meaning}")


def write_model(spec: Spec, directory: Path) -> None:
    size = spec.tokenizer(directory, VOCABULARY_SIZE)
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    names = tiny_models.LABELS[spec.labels]
    config = getattr(transformers, f"{spec.architecture}Config")(
        **{
            "vocab_size": size,
            "pad_token_id": tokenizer.pad_token_id,
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
            "id2label": dict(enumerate(names)),
            "label2id": {label: index for index, label in enumerate(names)},
            **spec.config,
        }
    )
    model = getattr(transformers, f"{spec.architecture}ForSequenceClassification")(config).eval()
    randomize(model, spec.seed)
    model.save_pretrained(directory)


def randomize(model: torch.nn.Module, seed: int) -> None:
    """As tiny_models does, for models whose names of parameters are others: matrices that keep the size of
    what they are given, gains around 1."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            noise = torch.randn(parameter.shape, generator=generator)
            if parameter.dim() > 1:
                fan = parameter[0].numel() if parameter.shape[0] != VOCABULARY_SIZE else 2
                parameter.copy_(noise / fan**0.5)
            else:
                parameter.copy_(0.3 * noise + (1 if "norm" in name.lower() and "bias" not in name else 0))


def make_golden(module: torch.nn.Module, tokenizer, limit: int, directory: Path) -> None:
    """As text_golden does for models with a path of their own: each text alone, by the module itself."""
    model = module.model
    classify = pipeline("text-classification", model=model, tokenizer=tokenizer, device="cpu")
    cut = {"truncation": True, "max_length": limit}
    encodings = [tokenizer(text, return_tensors="pt", **cut) for _, text in TEXTS]
    with torch.inference_mode():
        logits = [model(**encoded).logits[0] for encoded in encodings]
        exact = [model.double()(**encoded).logits[0] for encoded in encodings]
    model.float()
    rows = []
    for (_, text), encoded, single, reference in zip(TEXTS, encodings, logits, exact):
        error = (single - reference).abs().max().item() / max(1.0, reference.abs().max().item())
        ranked = sorted(single.tolist(), reverse=True)
        assert error < FLOAT32_ERROR, f"{directory.name}: {text!r}: {error}"
        assert ranked[0] - ranked[1] > LABEL_MARGIN, f"{directory.name}: {text!r}: {ranked}"
        top = classify(text, **cut)[0]
        rows.append(
            {
                "input_ids": encoded["input_ids"][0].tolist(),
                "truncated": len(tokenizer(text)["input_ids"]) > encoded["input_ids"].shape[1],
                "logits": floats(single),
                "label": top["label"],
                "score": top["score"],
            }
        )
    write_json(directory / "golden.json", {"versions": versions(), "max_length": limit}, "answers", rows)
    labels = [row["label"] for row in rows]
    print(f"{directory.name}: shortest {min(len(row['input_ids']) for row in rows)}, "
          f"labels {[labels.count(label) for label in sorted(set(labels))]}")
