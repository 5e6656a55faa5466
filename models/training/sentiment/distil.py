"""Distil several classifiers into one, on SST-2 and on variations of its sentences (stage F).

    python distil.py --data DIR --start MODEL --output DIR -- TEACHER TEACHER ...

Half of a batch are examples of train.tsv, whose target is part label, part the mean of the
teachers' probabilities; the other half are variations without a label, whose target is the
teachers' alone. What is saved is the exponential moving average of the weights.
"""

from __future__ import annotations

import argparse
import copy
import random
import time
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch.nn import functional

from corpus import Example, mark_maximal, read_tsv
from network import load, load_tokenizer, save
from packed import Packed, packed_logits
from train import base_folder, report, update_average
from train_mixed import plain_adamw
from written import detokenise, vary

EMA_EVERY = 2  # steps between updates of the moving average
NEIGHBOURS = 8
WARMUP = 0.05  # share of the steps


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder: train.tsv, dev.tsv")
    parser.add_argument("--start", type=Path, required=True, help="model to begin with")
    parser.add_argument("--output", type=Path, required=True, help="model directory to write")
    parser.add_argument("teachers", type=Path, nargs="+", help="model directories")
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--rate", type=float, default=3e-5, help="peak learning rate")
    parser.add_argument("--rows", type=int, default=32, help="texts in a batch")
    parser.add_argument("--soft", type=float, default=0.7, help="the teachers' share of a target")
    parser.add_argument("--replace", type=float, default=0.2, help="share of words replaced")
    parser.add_argument("--written", type=float, default=0.4, help="share of texts detokenised")
    parser.add_argument("--ema", type=float, default=0.998, help="moving average's decay a step")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


class Variations:
    """Random crops of sentences, words replaced by near ones, sentences joined.

    Near words are those next to each other in the table of word embeddings: opposites too,
    which the teachers then judge.
    """

    def __init__(
        self, examples: list[Example], table: torch.Tensor, tokenizer: Tokenizer, rng: random.Random
    ) -> None:
        self._examples, self._rng = examples, rng
        self._sentences = [e for e in examples if e.maximal and len(e.text.split()) >= 6]
        vocabulary = tokenizer.get_vocab()
        words = {word for e in examples for word in e.text.split()}
        known = sorted(w for w in words if w in vocabulary and w.isalpha() and len(w) > 2)
        rows = functional.normalize(table[[vocabulary[word] for word in known]], dim=1)
        self._near: dict[str, list[str]] = {}
        for first in range(0, len(known), 512):
            _, nearest = (rows[first : first + 512] @ rows.T).topk(NEIGHBOURS + 1, dim=1)
            for row, indices in enumerate(nearest.tolist()):
                self._near[known[first + row]] = [known[i] for i in indices[1:]]

    def draw(self, replaced: float) -> str:
        """A new text; `replaced` of the words of most texts are others."""
        rng = self._rng
        words = rng.choice(self._sentences if rng.random() < 0.8 else self._examples).text.split()
        if rng.random() < 0.4 and len(words) > 8:
            count = rng.randint(4, len(words))
            start = rng.randint(0, len(words) - count)
            words = words[start : start + count]
        if rng.random() < 0.75:
            words = [
                rng.choice(self._near[word])
                if word in self._near and rng.random() < replaced
                else word
                for word in words
            ]
        if rng.random() < 0.15:
            joint = rng.choice(["and", "but", ",", "."])
            words = [*words, joint, *rng.choice(self._sentences).text.split()[:25]]
        return " ".join(words)


def distilled(args: argparse.Namespace) -> torch.nn.Module:
    """Run the schedule and return the averaged weights."""
    model, tokenizer = load(args.start), load_tokenizer(args.base)
    model.train()
    teachers = [load(folder) for folder in args.teachers]
    rng = random.Random(args.seed)
    examples = mark_maximal(read_tsv(args.data / "train.tsv"))
    table = model.bert.embeddings.word_embeddings.weight.detach().clone()
    variations = Variations(examples, table, tokenizer, rng)
    average = copy.deepcopy(model).eval()
    tool, schedule = plain_adamw(model, args.rate, args.steps, WARMUP)
    labelled, order, began = args.rows // 2, [], time.monotonic()
    for step in range(1, args.steps + 1):
        if len(order) < labelled:
            order = list(range(len(examples)))
            rng.shuffle(order)
        chosen = [examples[order.pop()] for _ in range(labelled)]
        texts = [example.text for example in chosen]
        texts += [variations.draw(args.replace) for _ in range(args.rows - labelled)]
        texts = [vary(detokenise(t), rng) if rng.random() < args.written else t for t in texts]
        batch = Packed([encoding.ids for encoding in tokenizer.encode_batch(texts)])
        with torch.no_grad():
            target = sum(packed_logits(each, batch).softmax(-1) for each in teachers)
            target /= len(teachers)
        labels = torch.tensor([example.label for example in chosen])
        target[:labelled] *= args.soft
        target[:labelled] += (1 - args.soft) * functional.one_hot(labels, 2)
        loss = functional.cross_entropy(packed_logits(model, batch), target)
        tool.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        tool.step()
        schedule.step()
        if step % EMA_EVERY == 0:
            kept = min(args.ema**EMA_EVERY, step / (step + 10 * EMA_EVERY))
            update_average(average, model, 1 - kept)
        if step % 150 == 0:
            report(average, args, f"step {step}, average, at {time.monotonic() - began:.0f} s")
    return average


def main() -> None:
    args = parse()
    args.base = base_folder()
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    save(distilled(args), args.base, args.output)


if __name__ == "__main__":
    main()
