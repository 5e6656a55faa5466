"""What transformers makes of two texts: tokens by strategy, side and length, and the models' answers."""

import copy
from pathlib import Path
from random import Random

import exported_texts
import torch
import torchscript_models
from common import FIXTURES, floats, versions, write_json
from text_golden import FLOAT32_ERROR, LABEL_MARGIN, load, margin, position_limit
from transformers import AutoTokenizer, pipeline

# The first few are for the models, too.
PAIRS = [
    ("The film is a quiet marvel.", "I would gladly watch it again."),
    ("bad", "A dull plot, wooden acting and a score that never stops shouting."),
    ("A dull plot, wooden acting and a score that never stops shouting.", "bad"),
    ("He reads the letter twice, folds it, and puts it back. " * 3, "The bill came twice. " * 5),
    ("The bill came twice. " * 9, "He reads the letter twice, folds it, and puts it back. " * 3),
    ("这部电影非常好看，我很喜欢。", "Un film magnifique, drôle et touchant"),
    ("[CLS] as words [SEP] and </s>", "<s> twice <mask> [MASK] </s> film"),
    ("Good.", " "),
    ("Good.", ""),
    ("", "Good."),
    ("\u200b\u0301", "x"),
    ("!", "😀😡👍🏽 film"),
    ("one two three four", "five six seven eight"),
    ("one two three four", "five six seven eight nine"),
]
FOR_MODELS = 8
FEWEST = 5
STRATEGIES = ("longest_first", "only_first", "only_second", "do_not_truncate")
SIDES = ("right", "left")
CASES = 90

# One of each kind of tokenizer: its class's own template, or that of tokenizer.json.
TOKENIZERS = (
    "tokenizers/albert", "tokenizers/albert-cased", "tokenizers/bpe-with-bytes", "tokenizers/camembert",
    "tokenizers/deberta-v2", "tokenizers/deberta-v2-bpe", "tokenizers/electra", "tokenizers/mpnet",
    "tokenizers/xlm-roberta", "models/albert-one-shared-layer", "models/bert-single-label",
    "models/distilbert-two-labels", "models/modernbert-float16", "models/roberta-three-labels-float16",
    "models/roberta-vocab-json-sharded",
)


def make(folder: Path) -> None:
    write_json(folder / "texts.json", {}, "pairs", [list(pair) for pair in PAIRS])
    for name in TOKENIZERS:
        rows = cases(FIXTURES / name)
        path = folder / "tokens" / f"{Path(name).name}.json"
        write_json(path, {"versions": versions(), "directory": name}, "cases", rows)
        failed = sum("error" in row for row in rows)
        print(f"pairs: {name}: {len(rows)} cases, {failed} errors")
    for directory in sorted((FIXTURES / "models").iterdir()):
        rows = answers(directory)
        write_json(folder / "models" / f"{directory.name}.json", {"versions": versions()}, "answers", rows)
        cut = sum(row["truncated"] for row in rows)
        print(f"pairs: {directory.name}: {len(rows)} answers, {cut} cut")


def cases(directory: Path) -> list[dict]:
    """Of all strategies, sides and lengths around what each pair has, some."""
    tokenizer = AutoTokenizer.from_pretrained(directory)
    found = []
    for index, (text, pair) in enumerate(PAIRS):
        total = len(tokenizer(text, pair)["input_ids"])
        second = len(tokenizer(pair, add_special_tokens=False)["input_ids"])
        special = tokenizer.num_special_tokens_to_add(pair=pair != "")
        around = {special + 1, special + 2, special + second, special + second + 1, *range(total - 4, total + 2)}
        # Where one text's special tokens alone would fill the model there is nothing to load.
        least = max(special, tokenizer.num_special_tokens_to_add() + 1)
        limits = sorted(limit for limit in around | {least} if least <= limit <= tokenizer.model_max_length)
        found += [
            case(tokenizer, index, strategy, side, limit)
            for strategy in STRATEGIES
            for side in SIDES
            for limit in limits
        ]
    return Random(directory.name).sample(found, CASES)


def case(tokenizer, index: int, strategy: str, side: str, limit: int) -> dict:
    text, pair = PAIRS[index]
    row = {"pair": index, "truncation": strategy, "side": side, "limit": limit}
    tokenizer.truncation_side = side
    try:
        encoded = tokenizer(text, pair, truncation=strategy, max_length=limit)
    except Exception as error:
        assert "Truncation error" in str(error), error
        return {**row, "error": str(error)}
    ids = encoded["input_ids"]
    if len(ids) > limit:  # do_not_truncate
        return {**row, "error": "too long"}
    types = encoded.get("token_type_ids", [0] * len(ids))  # what a model takes that is given none
    return {**row, "input_ids": ids, "token_type_ids": "".join(map(str, types))}


def answers(directory: Path) -> list[dict]:
    """One pair at a time, in float32, as text_golden does with single texts."""
    tokenizer = AutoTokenizer.from_pretrained(directory)
    limit = position_limit(directory)
    script = directory / torchscript_models.FILE
    if script.exists():
        answer = torchscript_models.answer(script)
    else:
        answer = answer_of_pipeline(*models(directory), tokenizer, limit)
    rows = []
    for index, (text, pair) in enumerate(PAIRS[:FOR_MODELS]):
        encoded = tokenizer(text, pair, return_tensors="pt", truncation=True, max_length=limit)
        answered = answer(encoded, {"text": text, "text_pair": pair})
        # Below the margin the label would be a matter of luck.
        if answered is None or margin(answered) < LABEL_MARGIN:
            continue
        ids = encoded["input_ids"][0].tolist()
        truncated = len(tokenizer(text, pair)["input_ids"]) > len(ids)
        rows.append({"pair": index, "input_ids": ids, "truncated": truncated, **answered})
    assert len(rows) >= FEWEST, f"{directory.name}: {len(rows)} answers"
    return rows


def models(directory: Path) -> tuple:
    """In float32 and in float64."""
    if directory.name in exported_texts.BY_DIRECTORY:
        module, _, _ = exported_texts.load(exported_texts.BY_DIRECTORY[directory.name])
        return module.model, copy.deepcopy(module.model).double()
    return load(directory, torch.float32), load(directory, torch.float64)


def answer_of_pipeline(model, exact, tokenizer, limit: int):
    classify = pipeline("text-classification", model=model, tokenizer=tokenizer, device="cpu")

    def answer(encoded: dict, texts: dict) -> dict | None:
        with torch.inference_mode():
            logits = model(**encoded).logits[0]
            expected = exact(**encoded).logits[0]
        scale = max(1.0, expected.abs().max().item())
        if (logits - expected).abs().max().item() > FLOAT32_ERROR * scale:
            return None  # it hangs on the order of a sum
        top = classify(texts, truncation=True, max_length=limit)
        return {"logits": floats(logits), "label": top["label"], "score": top["score"]}

    return answer
