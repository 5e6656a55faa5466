"""Compares the ids of native/tokenizers with those of transformers' own tokenizer, on generated texts.

    python test/parity/tokenizer_parity.py                     # 20,000 texts, every directory of
                                                               # test/fixtures/tokenizers
    python test/parity/tokenizer_parity.py --texts 5000 DIR…   # model directories of your own
    python test/parity/tokenizer_parity.py --variants 300      # also: that many random rewritings of
                                                               # their settings, 200 texts each
    python test/parity/tokenizer_parity.py --texts 0 --kept    # the texts that the fuzzers keep
    python test/parity/tokenizer_parity.py --texts 0 --pairs 5000  # so many pairs of texts, cut by any
                                                               # strategy, from either side

Needs Cargo, and Python with requirements.txt. A directory that transformers itself cannot load counts
as equal when native/tokenizers refuses it too. Ends with 1 after any difference.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import pair_parity  # noqa: E402
import tokenizer_texts  # noqa: E402
import tokenizer_variants  # noqa: E402
from common import FIXTURES, set_up  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402

CRATE = Path(__file__).resolve().parents[2] / "native" / "hf"
FAMILIES = {
    "bert": "Bert", "distilbert": "Bert", "electra": "Bert", "ernie": "Bert",
    "roberta": "Roberta", "data2vec-text": "Roberta", "mpnet": "Mpnet",
    "albert": "Albert", "xlm-roberta": "XlmRoberta", "camembert": "Camembert",
    "deberta-v2": "DebertaV2", "modernbert": "TokenizerJson",
}
VARIANT_TEXTS = 200


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directories", nargs="*", type=Path)
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--variants", type=int, default=0)
    parser.add_argument("--kept", action="store_true")
    parser.add_argument("--pairs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=5)
    arguments = parser.parse_args()
    set_up()
    native = Native()
    fixtures = sorted(path.parent for path in (FIXTURES / "tokenizers").glob("*/config.json"))
    directories = arguments.directories or fixtures
    texts = tokenizer_texts.texts(arguments.texts, arguments.seed)
    texts += tokenizer_texts.kept() if arguments.kept else []
    equal = all([compare(native, directory, texts) for directory in directories if texts])
    if arguments.pairs:
        equal &= all([pair_parity.compare(native, family_of(each), each, arguments.pairs) for each in directories])
    few = tokenizer_texts.texts(arguments.texts, arguments.seed)[-VARIANT_TEXTS:]
    for number in range(arguments.variants):
        source = directories[number % len(directories)]
        with tempfile.TemporaryDirectory() as folder:
            change = tokenizer_variants.make(source, Path(folder), arguments.seed * 1_000_003 + number)
            equal &= compare(native, Path(folder), few + change.texts, f"{source.name} {number} {change.what}")
    return 0 if equal else 1


class Native:
    """The example program of native/tokenizers, which answers line by line."""

    def __init__(self):
        build = ["cargo", "build", "--release", "--locked", "--example", "encode"]
        target = Path(os.environ.get("CARGO_TARGET_DIR", CRATE.parents[1] / "build" / "native" / "rust"))
        subprocess.run([*build, "--target-dir", target], cwd=CRATE, check=True)
        self.program = target / "release" / "examples" / "encode"

    def ask(self, requests: list) -> list:
        lines = "".join(json.dumps(request) + "\n" for request in requests)
        done = subprocess.run([self.program], input=lines, capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]


def family_of(directory: Path) -> str:
    config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    return FAMILIES[config["model_type"]]


def compare(native: Native, directory: Path, texts: list[str], name: str | None = None) -> bool:
    name = name or directory.name
    opened, *answers = native.ask([{"directory": str(directory), "family": family_of(directory)}, *texts])
    try:
        tokenizer = AutoTokenizer.from_pretrained(directory)
    except Exception as error:  # noqa: BLE001: whatever it is, native/tokenizers must refuse it too
        same = "error" in opened
        print(f"{'both refuse' if same else 'ONLY transformers REFUSES'}: {name}: {error!r:.150} | {opened}")
        return same
    if "error" in opened:
        print(f"ONLY native/tokenizers REFUSES: {name}: {opened['error']}")
        return False
    limit = tokenizer.model_max_length if tokenizer.model_max_length < 1e15 else None
    if limit is not None and limit != opened["max_length"]:
        print(f"DIFFERENT: {name}: max_length {limit}, native/tokenizers {opened['max_length']}")
        return False
    differences = 0
    for text, expected, answer in zip(texts, encode(tokenizer, texts, limit), answers, strict=True):
        refused = expected is None and isinstance(answer, dict)
        if expected != answer and not refused:
            differences += 1
            if differences <= 3:
                print(f"{name}: {text[:300]!r}\n  transformers {expected[:40]}\n  native/tokenizers    {str(answer)[:200]}")
    print(f"{'DIFFERENT' if differences else 'equal'}: {name}: {len(texts)} texts, {differences} differ "
          f"({type(tokenizer).__name__})", flush=True)
    return differences == 0


def encode(tokenizer, texts: list[str], limit: int | None) -> list[list[int] | None]:
    """None: transformers cannot (a WordPiece vocabulary without its unknown token, for one)."""
    try:
        return tokenizer(texts, truncation=limit is not None, max_length=limit)["input_ids"]
    except Exception:  # noqa: BLE001
        if len(texts) == 1:
            return [None]
        half = len(texts) // 2
        return encode(tokenizer, texts[:half], limit) + encode(tokenizer, texts[half:], limit)


if __name__ == "__main__":
    sys.exit(main())
