#!/usr/bin/env python3
"""Trains a small tagger, to see what number formats cost the spans of a model that has learnt something: no package
ships a trained token classifier.

    pip install torch transformers
    python bench/spans/train.py models/sentiment train.tsv --output build/bench/tagger

A text is what stands before the first tab of a line; a line "sentence" is a heading. E-mail addresses, names, dates
and card numbers, made at random, are put between the words of each; the encoder is that of the model named, its head
is new. The last 1,000 texts of the file are kept for OUTPUT/texts.tsv, with the same put into them: what
bench/spans/spans.mjs reads.
"""

import argparse
import random
from pathlib import Path

import torch
from transformers import AutoModelForTokenClassification, AutoTokenizer

KINDS = ("EMAIL", "NAME", "DATE", "CARD")
LABELS = ["O", *(f"{begin}-{kind}" for kind in KINDS for begin in "BI")]
FIRST = "Anna Peter Maria John Fatima Li Olga Carlos Ingrid Tom Aisha Viktor Elena Hugo Noor Sam Julia Omar Rosa Ken".split()
LAST = "Meyer Smith Garcia Novak Tanaka Rossi Olsen Khan Dubois Silva Cohen Larsen Ivanova Brown Weber Okafor Lee Costa".split()
HOSTS = "mail example post company university web".split()
MONTHS = "January March April June August October December".split()
KEPT = 1000
LENGTH = 64


def entity(kind: str, chance: random.Random) -> str:
    first, last, day = chance.choice(FIRST), chance.choice(LAST), chance.randint(1, 28)
    if kind == "EMAIL":
        return f"{first.lower()}.{last.lower()}{chance.choice(['', str(day)])}@{chance.choice(HOSTS)}.{chance.choice(['org', 'com', 'de'])}"
    if kind == "NAME":
        return f"{first} {last}" if chance.random() < 0.7 else first
    if kind == "DATE":
        year = chance.randint(1950, 2030)
        return chance.choice([f"{day} {chance.choice(MONTHS)} {year}", f"{year}-{day % 12 + 1:02}-{day:02}", f"{day}/{day % 12 + 1}/{year}"])
    return chance.choice([" ", "-"]).join(f"{chance.randint(0, 9999):04}" for _ in range(4))


def written(text: str, chance: random.Random) -> tuple[list[str], list[str]]:
    """Words of the text with up to three things among them, and the kind of each; "" for the text's own."""
    words = text.split()
    kinds = [""] * len(words)
    for _ in range(chance.randint(0, 3)):
        kind, place = chance.choice(KINDS), chance.randint(0, len(words))
        words.insert(place, entity(kind, chance))
        kinds.insert(place, kind)
    return words, kinds


def encoded(tokenizer, rows: list[tuple[list[str], list[str]]]) -> dict:
    """Tokens of the words put together by a space, with the label of each."""
    batch = tokenizer(
        [" ".join(words) for words, _ in rows], padding=True, truncation=True, max_length=LENGTH,
        return_tensors="pt", return_offsets_mapping=True,
    )
    labels = torch.full_like(batch["input_ids"], -100)
    for row, (words, kinds) in enumerate(rows):
        places, end = [], 0
        for word, kind in zip(words, kinds, strict=True):
            places.append((end, end + len(word), kind))
            end += len(word) + 1
        for token, (begin, stop) in enumerate(batch["offset_mapping"][row].tolist()):
            if begin == stop:
                continue
            first, _, kind = next(place for place in places if place[0] <= begin < place[1] + 1)
            labels[row, token] = LABELS.index(f"{'B' if begin == first else 'I'}-{kind}") if kind else 0
    del batch["offset_mapping"]
    return {**batch, "labels": labels}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch", type=int, default=24)
    arguments = parser.parse_args()
    torch.manual_seed(1)
    chance = random.Random(1)
    lines = [line.split("\t")[0].strip() for line in arguments.texts.read_text().splitlines()]
    texts = [line for line in lines if line not in ("", "sentence")]
    tokenizer = AutoTokenizer.from_pretrained(arguments.model)
    names = dict(enumerate(LABELS))
    model = AutoModelForTokenClassification.from_pretrained(
        arguments.model, ignore_mismatched_sizes=True, num_labels=len(LABELS), problem_type=None, id2label=names,
        label2id={label: index for index, label in names.items()}, dtype=torch.float32,
    )
    model.base_model.embeddings.requires_grad_(False)
    learnt = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(learnt, lr=3e-4)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, arguments.steps)
    model.train()
    for step in range(arguments.steps):
        rows = [written(text, chance) for text in chance.sample(texts[:-KEPT], arguments.batch)]
        loss = model(**encoded(tokenizer, rows)).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 25 == 0:
            print(f"step {step}: loss {loss.item():.4f}", flush=True)
    arguments.output.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(arguments.output)
    tokenizer.save_pretrained(arguments.output)
    kept = [written(text, chance) for text in texts[-KEPT:]]
    (arguments.output / "texts.tsv").write_text("".join(" ".join(words) + "\n" for words, _ in kept))
    model.eval()
    right = total = 0
    for begin in range(0, KEPT, 50):
        batch = encoded(tokenizer, kept[begin : begin + 50])
        with torch.inference_mode():
            found = model(**{**batch, "labels": None}).logits.argmax(2)
        seen = batch["labels"] >= 0
        right += (found == batch["labels"])[seen].sum().item()
        total += seen.sum().item()
    print(f"{arguments.output}: {right} of {total} tokens right ({100 * right / total:.2f} %)")


if __name__ == "__main__":
    main()
