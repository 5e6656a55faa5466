"""Compares what native/tokenizers makes of two texts with what transformers makes of them."""

from pathlib import Path
from random import Random

import tokenizer_texts
from transformers import AutoTokenizer

STRATEGIES = ("longest_first", "only_first", "only_second", "do_not_truncate")
SIDES = (None, "right", "left")
LIMITS = (6, 7, 12, 17, 30, 64, 129, 512)
# Some texts are long enough to be read in parts; but transformers keeps all combinations of what it cuts off
# from both, in parts of the limit's length.
LONG = 12_000
LONG_FROM = 64


def compare(native, family: str, directory: Path, count: int) -> bool:
    random = Random(directory.name)
    tokenizer = AutoTokenizer.from_pretrained(directory)
    own_side = tokenizer.truncation_side
    texts = tokenizer_texts.texts(2 * count + 200)[-2 * count :]
    differences = 0
    for limit in (limit for limit in LIMITS if limit <= tokenizer.model_max_length):
        asked = [some_pair(random, texts, limit) for _ in range(count // len(LIMITS))]
        opening = {"directory": str(directory), "family": family, "position_limit": limit}
        _, *answers = native.ask([opening, *(request(*each) for each in asked)])
        for (text, pair, strategy, side), answer in zip(asked, answers, strict=True):
            tokenizer.truncation_side = side or own_side
            expected = encode(tokenizer, (text, pair), strategy, limit)
            if answer == expected or (expected is None and "error" in answer):
                continue
            differences += 1
            if differences <= 3:
                print(f"{directory.name}: {strategy}, {side}, {limit}: {text[:200]!r} {pair[:200]!r}\n"
                      f"  transformers {str(expected)[:300]}\n  native/tokenizers    {str(answer)[:300]}")
    print(f"{'DIFFERENT' if differences else 'equal'}: {directory.name}: {count} pairs, {differences} differ", flush=True)
    return differences == 0


def some_pair(random: Random, texts: list[str], limit: int) -> tuple[str, str, str, str | None]:
    text, pair = (some_text(random, texts, limit) for _ in range(2))
    return text, pair, random.choice(STRATEGIES), random.choice(SIDES)


def some_text(random: Random, texts: list[str], limit: int) -> str:
    text = random.choice(texts)
    if limit < LONG_FROM or random.random() < 0.9:
        return text[:LONG_FROM]
    size = random.randrange(LONG)
    return (text * (1 + size // max(1, len(text))))[:size]


def request(text: str, pair: str, strategy: str, side: str | None) -> dict:
    return {"text": text, "pair": pair, "truncation": STRATEGIES.index(strategy), "side": SIDES.index(side)}


def encode(tokenizer, texts: tuple[str, str], strategy: str, limit: int) -> list | None:
    """None: transformers cannot, or what it gives does not fit."""
    try:
        encoded = tokenizer(*texts, truncation=strategy, max_length=limit)
    except Exception:  # noqa: BLE001
        return None
    ids = encoded["input_ids"]
    if len(ids) > limit:
        return None
    types = encoded.get("token_type_ids", [0] * len(ids))
    return [ids, types, len(ids) < len(tokenizer(*texts)["input_ids"])]
