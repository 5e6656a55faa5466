"""Measure a saved classifier, or a running service, on SST-2 dev, in both written forms.

    python evaluate.py --model DIR --data DIR [--predictions FILE]
    python evaluate.py --url http://localhost:8000 --data DIR [--predictions FILE]
"""

from __future__ import annotations

import argparse
import json
import math
import urllib.request
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import BertForSequenceClassification

from corpus import LABELS, Example, padded, read_tsv
from network import load, load_tokenizer
from written import written


def wilson(right: int, total: int, z: float = 1.959964) -> tuple[float, float]:
    """The 95 % Wilson interval of a proportion."""
    p = right / total
    centre = p + z * z / (2 * total)
    spread = z * math.sqrt(p * (1 - p) / total + z * z / (4 * total * total))
    return (centre - spread) / (1 + z * z / total), (centre + spread) / (1 + z * z / total)


@torch.inference_mode()
def predict(
    model: BertForSequenceClassification, tokenizer: Tokenizer, texts: list[str]
) -> torch.Tensor:
    """Float32 probabilities [texts, 2], softmax over (NEGATIVE, POSITIVE)."""
    training = model.training
    model.eval()
    result = torch.empty(len(texts), 2)
    for indices, ids, mask in padded(texts, tokenizer):
        result[indices] = model(input_ids=ids, attention_mask=mask).logits.softmax(-1)
    model.train(training)
    return result


def ask(url: str, texts: list[str]) -> torch.Tensor:
    """The same [texts, 2] from the scores that POST /analyze of a service gives (4 decimals)."""
    rows = []
    for text in texts:
        body = json.dumps({"text": text}).encode()
        headers = {"content-type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(url + "/analyze", body, headers)) as got:
            answer = json.load(got)
        row = [1 - answer["score"]] * len(LABELS)
        row[LABELS.index(answer["label"])] = answer["score"]
        rows.append(row)
    return torch.tensor(rows)


def forms(examples: list[Example]) -> dict[str, list[str]]:
    """The two texts of every example: as distributed, and as people write."""
    return {
        "as distributed": [example.text for example in examples],
        "as people write": [written(example.text) for example in examples],
    }


def count_right(probabilities: torch.Tensor, examples: list[Example]) -> int:
    """How many of `examples` have their own label as the most probable one."""
    labels = torch.tensor([example.label for example in examples])
    return int((probabilities.argmax(-1) == labels).sum())


def calibration(probabilities: torch.Tensor, examples: list[Example], bins: int = 10) -> float:
    """Expected calibration error over `bins` equal-width bins of the winning score."""
    score, guess = probabilities.max(-1)
    right = (guess == torch.tensor([example.label for example in examples])).float()
    slot = ((score - 0.5) * 2 * bins).long().clamp(max=bins - 1)
    total = 0.0
    for number in range(bins):
        inside = slot == number
        if bool(inside.any()):
            gap = (score[inside].mean() - right[inside].mean()).abs()
            total += float(inside.float().mean() * gap)
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--model", type=Path, help="saved model directory")
    source.add_argument("--url", help="running sentiment service")
    parser.add_argument("--data", type=Path, required=True, help="folder that holds dev.tsv")
    parser.add_argument("--predictions", type=Path, help="JSON lines to write")
    args = parser.parse_args()
    examples = read_tsv(args.data / "dev.tsv")
    model = load(args.model) if args.model else None
    tokenizer = load_tokenizer(args.model) if args.model else None
    rows: list[dict[str, object]] = []
    for name, texts in forms(examples).items():
        probabilities = predict(model, tokenizer, texts) if model else ask(args.url, texts)
        right, total = count_right(probabilities, examples), len(examples)
        low, high = wilson(right, total)
        error = calibration(probabilities, examples)
        print(
            f"{name}: {right} of {total} right, {right / total:.2%} "
            f"(95 % {low:.1%} to {high:.1%}), calibration error {error:.3f}"
        )
        for example, text, row in zip(examples, texts, probabilities.tolist(), strict=True):
            rows.append({"form": name, "text": text, "label": example.label, "scores": row})
    if args.predictions is not None:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        args.predictions.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
