"""Read SST-2 and turn it into batches of token ids."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer

from written import detokenise, vary

LABELS: tuple[str, str] = ("NEGATIVE", "POSITIVE")


@dataclass(frozen=True)
class Example:
    """One labelled phrase or sentence; `label` indexes `LABELS`."""

    text: str
    label: int
    maximal: bool = False  # a whole sentence: part of no other example


def read_tsv(path: Path) -> list[Example]:
    """Read a GLUE SST-2 file: the header `sentence<TAB>label`, then one example a line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if lines[0].split("\t") != ["sentence", "label"]:
        raise ValueError(f"{path}: unexpected header {lines[0]!r}")
    examples = []
    for line in lines[1:]:
        text, label = line.rsplit("\t", 1)
        examples.append(Example(text.strip(), int(label)))
    return examples


def mark_maximal(examples: list[Example]) -> list[Example]:
    """Mark the examples whose words are not a run inside another example's words.

    Every phrase of SST-2 is a constituent of some sentence; the sentences are those that
    no other example contains.
    """
    inside: set[int] = set()
    for example in examples:
        words = tuple(example.text.split())
        for start in range(len(words)):
            for end in range(start + 1, len(words) + 1):
                if end - start < len(words):
                    inside.add(hash(words[start:end]))
    return [
        Example(example.text, example.label, hash(tuple(example.text.split())) not in inside)
        for example in examples
    ]


def sample(examples: list[Example], rng: random.Random, share: float) -> list[Example]:
    """All sentences and a random `share` of the phrases inside them."""
    return [example for example in examples if example.maximal or rng.random() < share]


def epoch_texts(examples: list[Example], rng: random.Random, share: float) -> list[str]:
    """One epoch's texts: each example is detokenised with probability `share`."""
    texts = []
    for example in examples:
        if rng.random() < share:
            texts.append(vary(detokenise(example.text), rng))
        else:
            texts.append(example.text)
    return texts


def batches(
    examples: list[Example],
    tokenizer: Tokenizer,
    rng: random.Random,
    *,
    share: float,
    tokens: int,
    max_rows: int,
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """One shuffled epoch of (ids int64 [rows, length], labels int64 [rows]) batches.

    All rows of a batch have exactly the same length, so nothing is padded and no mask is
    needed. A batch holds about `tokens` tokens: the mean over a batch thus gives a word of
    a long sentence the same weight as one of a short phrase, which leans the training
    towards whole sentences.
    """
    encodings = tokenizer.encode_batch(epoch_texts(examples, rng, share))
    by_length: dict[int, list[int]] = defaultdict(list)
    order = list(range(len(examples)))
    rng.shuffle(order)
    for index in order:
        by_length[len(encodings[index].ids)].append(index)
    groups: list[list[int]] = []
    for length, indices in by_length.items():
        rows = max(1, min(max_rows, round(tokens / length)))
        groups.extend(indices[i : i + rows] for i in range(0, len(indices), rows))
    rng.shuffle(groups)
    return [
        (
            torch.tensor([encodings[i].ids for i in group]),
            torch.tensor([examples[i].label for i in group]),
        )
        for group in groups
    ]


def padded(
    texts: list[str], tokenizer: Tokenizer, rows: int = 64
) -> Iterator[tuple[list[int], torch.Tensor, torch.Tensor]]:
    """Evaluation batches: (indices, ids int64 [rows, length], mask int64 [rows, length])."""
    encodings = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    order = sorted(range(len(texts)), key=lambda i: len(encodings[i]))
    for start in range(0, len(order), rows):
        indices = order[start : start + rows]
        longest = max(len(encodings[i]) for i in indices)
        ids = torch.zeros(len(indices), longest, dtype=torch.int64)
        mask = torch.zeros_like(ids)
        for row, index in enumerate(indices):
            ids[row, : len(encodings[index])] = torch.tensor(encodings[index])
            mask[row, : len(encodings[index])] = 1
        yield indices, ids, mask
