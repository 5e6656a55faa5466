"""What transformers says of long texts in windows: scores of each, and where it is in the text.

    pip install -r test/parity/requirements.txt
    python test/parity/window_golden.py  # test/fixtures/windows.json
"""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

import torch  # noqa: E402
from common import FIXTURES, floats, set_up, versions, write_json  # noqa: E402
from text_golden import load, position_limit  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402

MODELS = ("bert-single-label", "distilbert-two-labels", "roberta-three-labels-float16", "modernbert-float16")
TEXTS = [
    "The film is a quiet marvel.",
    "He reads the letter twice, folds it, and puts it back. The bill came twice. 😀😡👍🏽 " * 6,
    "  A dull plot, wooden acting and a score that never stops shouting.\n\n" * 9,
]
STRIDES = (0, 7)


def utf16(text: str, place: int) -> int:
    return len(text[:place].encode("utf-16-le")) // 2


def windows(tokenizer, model, text: str, limit: int, stride: int) -> list[dict]:
    encoded = tokenizer(
        text, truncation=True, max_length=limit, stride=stride,
        return_overflowing_tokens=True, return_offsets_mapping=True, return_special_tokens_mask=True,
    )
    rows = []
    for index, ids in enumerate(encoded["input_ids"]):
        given = {"input_ids": torch.tensor([ids])}
        if "token_type_ids" in tokenizer.model_input_names:
            given["token_type_ids"] = torch.tensor([encoded["token_type_ids"][index]])
        with torch.inference_mode():
            scores = model(**given).logits[0].softmax(-1)
        special = encoded["special_tokens_mask"][index]
        places = [pair for pair, is_special in zip(encoded["offset_mapping"][index], special) if not is_special]
        rows.append({
            "start": utf16(text, min(start for start, _ in places)),
            "end": utf16(text, max(end for _, end in places)),
            "scores": floats(scores),
        })
    return rows


def main() -> None:
    set_up()
    cases = []
    for name in MODELS:
        directory = FIXTURES / "models" / name
        tokenizer = AutoTokenizer.from_pretrained(directory)
        model = load(directory, torch.float32)
        limit = min(position_limit(directory), tokenizer.model_max_length)
        for text in TEXTS:
            for stride in STRIDES:
                rows = windows(tokenizer, model, text, limit, stride)
                cases.append({"model": name, "text": text, "stride": stride, "windows": rows})
        print(f"windows: {name}: {[len(case['windows']) for case in cases if case['model'] == name]}")
    write_json(FIXTURES / "windows.json", {"versions": versions()}, "cases", cases)


if __name__ == "__main__":
    main()
