"""The answers of transformers for each tiny text model."""

import json
from pathlib import Path

import exported_texts
import tiny_models
import torchscript_models
import torch
from common import floats, versions, write_json
from rotary_specs import ROTARY_SPECS
from texts import TEXTS
from tiny_specs import SPECS
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedModel,
    pipeline,
)

# Largest difference, relative above 1, to float64 that golden logits may have: well below the tests' tolerance,
# so that another order of summation does not fail them.
FLOAT32_ERROR = 2e-6
# Smallest distance between the two highest logits: below it the label would be a matter of luck.
LABEL_MARGIN = 1e-3


def make(directory: Path, only: str | None) -> None:
    texts = [text for _, text in TEXTS]
    write_json(directory.parent / "texts.json", {}, "texts", texts)
    for spec in [*SPECS, *ROTARY_SPECS]:
        if only in (None, spec.name):
            tiny_models.make(spec, directory / spec.name)
            make_golden(directory / spec.name, texts)
    for name in torchscript_models.GOOD:
        if only in (None, name):
            torchscript_models.make(name, directory / name)
            make_golden(directory / name, texts)
    for name, spec in exported_texts.BY_DIRECTORY.items():
        if only in (None, name):
            exported_texts.make(spec, directory / name)


def make_golden(directory: Path, texts: list[str]) -> None:
    rows = answers(directory, texts)
    check_stability(directory, rows)
    head = {"versions": versions(), "max_length": position_limit(directory)}
    short = [{key: value for key, value in row.items() if key != "text"} for row in rows]
    write_json(directory / "golden.json", head, "answers", short)
    labels = {row["label"] for row in rows}
    scores = [row["score"] for row in rows]
    cut = sum(row["truncated"] for row in rows)
    print(f"{directory.name}: {len(rows)} texts, {cut} cut, labels {sorted(labels)}, "
          f"scores {min(scores):.4f} to {max(scores):.4f}")


def position_limit(directory: Path) -> int:
    """Tokens that fit the model, special ones included: what `truncation=True` needs where the
    tokenizer itself knows no limit."""
    limit = AutoTokenizer.from_pretrained(directory).model_max_length
    if (directory / exported_texts.FILE).exists():
        return limit
    config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    positions = config["max_position_embeddings"]
    if config["model_type"] in tiny_models.POSITIONS_AFTER_PADDING:
        positions -= config["pad_token_id"] + 1
    return min(positions, limit)


def answers(directory: Path, texts: list[str]) -> list[dict]:
    """One text at a time, in float32 whatever the storage type: since release 5, `pipeline` alone
    would run a float16 checkpoint in float16."""
    tokenizer = AutoTokenizer.from_pretrained(directory)
    if (directory / torchscript_models.FILE).exists():
        return torchscript_models.answers(directory, tokenizer, texts, position_limit(directory))
    model = load(directory, torch.float32)
    classify = pipeline("text-classification", model=model, tokenizer=tokenizer, device="cpu")
    cut = {"truncation": True, "max_length": position_limit(directory)}
    rows = []
    for text in texts:
        encoded = tokenizer(text, return_tensors="pt", **cut)
        with torch.inference_mode():
            logits = model(**encoded).logits[0]
        [top] = classify(text, **cut)
        rows.append(
            {
                "text": text,
                "input_ids": encoded["input_ids"][0].tolist(),
                "truncated": len(tokenizer(text)["input_ids"]) > encoded["input_ids"].shape[1],
                "logits": floats(logits),
                "label": top["label"],
                "score": top["score"],
            }
        )
    return rows


def load(directory: Path, dtype: torch.dtype) -> PreTrainedModel:
    return AutoModelForSequenceClassification.from_pretrained(directory, dtype=dtype).eval()


def check_stability(directory: Path, rows: list[dict]) -> None:
    """Golden numbers must not hang on the order of a sum: float64 gives nearly the same."""
    if (directory / torchscript_models.FILE).exists():
        return  # written for float32 only
    model = load(directory, torch.float64)
    for row in rows:
        with torch.inference_mode():
            exact = model(torch.tensor([row["input_ids"]])).logits[0]
        error = (torch.tensor(row["logits"]) - exact).abs().max().item()
        scale = max(1.0, exact.abs().max().item())
        assert error < FLOAT32_ERROR * scale, f"{directory.name}: {row['text']!r}: {error}"
        assert margin(row) > LABEL_MARGIN, f"{directory.name}: {row['text']!r}: {margin(row)}"


def margin(row: dict) -> float:
    """Distance of the two highest logits."""
    ranked = sorted(row["logits"], reverse=True)
    return ranked[0] - ranked[1] if len(ranked) > 1 else float("inf")
