"""The ids that transformers gives for the tokenizer directories of tiny_sentencepiece.py."""

from pathlib import Path

import tiny_sentencepiece
import tokenizer_texts
from common import versions, write_json
from transformers import AutoTokenizer

COUNT = 400
# Long texts are compared by tokenizer_parity.py; here they would only fill the repository.
LONGEST = 160


def make(folder: Path) -> None:
    tiny_sentencepiece.make(folder)
    texts = [text for text in tokenizer_texts.texts(2 * COUNT) if len(text) <= LONGEST][:COUNT]
    write_json(folder / "texts.json", {}, "texts", texts)
    for config in sorted(folder.glob("*/config.json")):
        tokenizer = AutoTokenizer.from_pretrained(config.parent)
        limit = tokenizer.model_max_length
        cut = {"truncation": True, "max_length": limit} if limit < 1e15 else {}
        rows = [tokenizer(text, **cut)["input_ids"] for text in texts]
        head = {"versions": versions(), "class": type(tokenizer).__name__}
        write_json(config.parent / "golden.json", head, "input_ids", rows)
        print(f"{config.parent.name}: {type(tokenizer).__name__}, {len(rows)} texts")
