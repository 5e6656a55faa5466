"""Tokens of texts by the tokenizers of transformers, for POST /tokenize and /decode.

    pip install -r test/parity/requirements.txt
    python test/parity/token_golden.py  # test/fixtures/tokens.json
"""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

from common import FIXTURES, set_up, versions, write_json  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402

# The last is longer than all models allow.
TEXTS = ["A quiet film.", "été 😀 naïve — 喜悦", "  two  spaces ", "The film is a quiet marvel, isn't it? " * 6]
MODELS = [
    "bert-single-label", "roberta-one-label", "xlm-roberta-multi-label-sharded", "modernbert-float16",
    "albert-one-shared-layer", "qwen3-float16",
]  # fmt: skip


def main() -> None:
    set_up()
    rows = []
    for name in MODELS:
        tokenizer = AutoTokenizer.from_pretrained(FIXTURES / "models" / name).backend_tokenizer
        tokenizer.no_truncation()
        tokenizer.no_padding()
        for index, text in enumerate(TEXTS):
            for special in (True, False):
                encoding = tokenizer.encode(text, add_special_tokens=special)
                row = {"model": name, "text": index, "special": special, "ids": encoding.ids}
                row |= {"tokens": [tokenizer.id_to_token(one) for one in encoding.ids], "mask": encoding.special_tokens_mask}
                row |= {"offsets": [list(one) for one in encoding.offsets]}
                row |= {"decoded": [tokenizer.decode(encoding.ids, skip_special_tokens=skip) for skip in (True, False)]}
                rows.append(row)
    write_json(FIXTURES / "tokens.json", {"versions": versions(), "texts": TEXTS}, "rows", rows)


if __name__ == "__main__":
    main()
