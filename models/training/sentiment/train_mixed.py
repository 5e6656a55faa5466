"""Fine-tune MiniLM on SST-2 with batches of mixed lengths (stage E).

    python train_mixed.py --data DIR --output DIR

AdamW on all weights, a linear schedule with warm-up, clipping at 1; what is saved is the
exponential moving average of the weights. dev.tsv is measured on the way.
"""

from __future__ import annotations

import argparse
import copy
import random
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from torch.nn import functional

from corpus import epoch_texts, read_tsv
from network import build, load_tokenizer, save
from packed import Packed, packed_logits
from train import base_folder, linear_schedule, report, update_average

EMA_EVERY = 4  # steps between updates of the moving average


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder: train.tsv, dev.tsv")
    parser.add_argument("--output", type=Path, required=True, help="model directory to write")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rate", type=float, default=5e-5, help="peak learning rate")
    parser.add_argument("--rows", type=int, default=32, help="texts in a batch")
    parser.add_argument("--warmup", type=float, default=0.06, help="share of the steps")
    parser.add_argument("--ema", type=float, default=0.999, help="moving average's decay a step")
    parser.add_argument("--written", type=float, default=0.3, help="share of texts detokenised")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def stream(args: argparse.Namespace) -> Iterator[tuple[Packed, torch.Tensor]]:
    """Batches of `rows` texts of one shuffled epoch after another, without end."""
    examples = read_tsv(args.data / "train.tsv")
    tokenizer = load_tokenizer(args.base)
    rng = random.Random(args.seed)
    while True:
        encodings = tokenizer.encode_batch(epoch_texts(examples, rng, args.written))
        order = list(range(len(examples)))
        rng.shuffle(order)
        for start in range(0, len(order) - args.rows + 1, args.rows):
            chosen = order[start : start + args.rows]
            labels = torch.tensor([examples[i].label for i in chosen])
            yield Packed([encodings[i].ids for i in chosen]), labels


def plain_adamw(
    model: torch.nn.Module, rate: float, steps: int, warmup: float
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LambdaLR]:
    """AdamW at one rate for all weights, and its schedule; vectors are not decayed."""
    groups = [
        {"params": [p], "weight_decay": 0.01 if p.ndim > 1 else 0.0} for p in model.parameters()
    ]
    tool = torch.optim.AdamW(groups, lr=rate, fused=True)
    return tool, linear_schedule(tool, steps, warmup)


def main() -> None:
    args = parse()
    args.base = base_folder()
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    model = build(args.base)
    model.train()
    average = copy.deepcopy(model).eval()
    steps = len(read_tsv(args.data / "train.tsv")) // args.rows * args.epochs
    tool, schedule = plain_adamw(model, args.rate, steps, args.warmup)
    draws, began = stream(args), time.monotonic()
    for step in range(1, steps + 1):
        batch, labels = next(draws)
        loss = functional.cross_entropy(packed_logits(model, batch), labels)
        tool.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        tool.step()
        schedule.step()
        if step % EMA_EVERY == 0:
            kept = min(args.ema**EMA_EVERY, step / (step + 10 * EMA_EVERY))
            update_average(average, model, 1 - kept)
        if step % 500 == 0:
            report(average, args, f"step {step}, average, at {time.monotonic() - began:.0f} s")
            report(model, args, f"step {step}")
    report(average, args, "average")
    save(average, args.base, args.output)


if __name__ == "__main__":
    main()
