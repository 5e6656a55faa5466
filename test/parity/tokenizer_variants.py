"""Random rewritings of a tokenizer directory's settings, as older and newer releases write them."""

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

FLAGS = ("do_lower_case", "strip_accents", "tokenize_chinese_chars", "keep_accents", "remove_space",
         "add_prefix_space", "trim_offsets", "split_by_punct", "split_special_tokens")
NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
CONTENTS = ("<s>", "</s>", "<unk>", "<pad>", "<mask>", "[CLS]", "[SEP]", "[UNK]", "[PAD]", "[MASK]", "<new>", "film")
NEW = ("<new>", "good film", "<extra>", "[User]", "électron", "ab", "the")


@dataclass
class Change:
    what: str
    texts: list[str] = field(default_factory=list)


def make(source: Path, target: Path, seed: int) -> Change:
    """Copies `source` to `target`, with other settings."""
    random = Random(seed)
    for path in source.iterdir():
        if path.is_file():
            shutil.copyfile(path, target / path.name)
    settings = read(source / "tokenizer_config.json")
    done = []
    for step in random.sample(STEPS, random.randint(1, 3)):
        done.append(step.__name__)
        step(random, target, settings)
    write(target / "tokenizer_config.json", settings)
    said = {key: settings[key] for key in settings if key != "added_tokens_decoder"}
    texts = [f"a {content} b{content}c {content.upper()}  {content}" for content in {*CONTENTS, *NEW}]
    return Change(f"{'+'.join(done)} {json.dumps(said, ensure_ascii=False)[:400]}", sorted(texts))


def flags(random: Random, target: Path, settings: dict) -> None:
    for flag in random.sample(FLAGS, 3):
        settings[flag] = random.random() < 0.5


def limits(random: Random, target: Path, settings: dict) -> None:
    settings["model_max_length"] = random.choice([3, 8, 20, 512, int(1e30)])
    settings["truncation_side"] = random.choice(["left", "right"])


def token_names(random: Random, target: Path, settings: dict) -> None:
    """Strings, objects or null; in tokenizer_config.json or in special_tokens_map.json."""
    special = read(target / "special_tokens_map.json")
    for key in random.sample(NAMED, 3):
        content = random.choice(CONTENTS)
        kind = random.randrange(5)
        if kind == 0:
            settings[key] = content
        elif kind == 1:
            settings[key] = {"__type": "AddedToken", **token(random, content)}
        elif kind == 2:
            special[key] = content
        elif kind == 3:
            special[key] = token(random, content)
        elif key in ("mask_token", "pad_token", "bos_token"):
            settings[key] = None
    write(target / "special_tokens_map.json", special)


def extra_tokens(random: Random, target: Path, settings: dict) -> None:
    key = random.choice(["additional_special_tokens", "extra_special_tokens"])
    tokens = random.sample(NEW, random.randint(0, 3))
    place = random.randrange(4)
    if place == 0:
        settings[key] = tokens
    elif place == 1:
        settings[key] = [{"__type": "AddedToken", **token(random, content)} for content in tokens]
    elif place == 2:
        settings["extra_special_tokens"] = {f"name_{index}_token": content for index, content in enumerate(tokens[:1])}
    else:
        write(target / "special_tokens_map.json", {**read(target / "special_tokens_map.json"), key: tokens})


def older_added_tokens(random: Random, target: Path, settings: dict) -> None:
    settings.pop("added_tokens_decoder", None)
    tokens = random.sample(NEW, random.randint(1, 3))
    write(target / "added_tokens.json", {content: 2000 + index for index, content in enumerate(tokens)})


def decoder(random: Random, target: Path, settings: dict) -> None:
    tokens = random.sample(NEW + CONTENTS, random.randint(1, 4))
    settings["added_tokens_decoder"] = {
        str(2000 + index): {**token(random, content), "special": random.random() < 0.5}
        for index, content in enumerate(tokens)
    }


def no_settings(random: Random, target: Path, settings: dict) -> None:
    for name in ("special_tokens_map.json", "added_tokens.json"):
        (target / name).unlink(missing_ok=True)
    settings.clear()


def token(random: Random, content: str) -> dict:
    flag = lambda share: random.random() < share  # noqa: E731
    return {"content": content, "single_word": flag(0.2), "lstrip": flag(0.3), "rstrip": flag(0.3), "normalized": flag(0.4)}


def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write(path: Path, value: dict) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


STEPS = [flags, flags, limits, token_names, extra_tokens, older_added_tokens, decoder, no_settings]
