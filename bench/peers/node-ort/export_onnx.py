"""Export a Hugging Face sequence-classification directory to ONNX for transformers.js.

Usage: python export_onnx.py SRC_DIR OUT_DIR

Writes OUT_DIR/onnx/model.onnx (float32, any batch size and length) and copies config.json and the
tokenizer files.
"""

import shutil
import sys
import warnings
from pathlib import Path

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

COPIED = ["config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"]
TEXTS = ["a short text", "another, somewhat longer text"]


class Logits(torch.nn.Module):
    """Takes its inputs in a fixed order and returns the logits alone."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs):
        return self.model(**dict(zip(self.names, inputs)), return_dict=True).logits


def export(source: Path, target: Path) -> None:
    (target / "onnx").mkdir(parents=True)
    tokenizer = AutoTokenizer.from_pretrained(source)
    model = AutoModelForSequenceClassification.from_pretrained(source, attn_implementation="eager")
    encoded = tokenizer(TEXTS, padding=True, return_tensors="pt")
    names = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in encoded]
    axes = {name: {0: "batch", 1: "sequence"} for name in names} | {"logits": {0: "batch"}}
    # The exporter that traces (dynamo=False) needs no package beside onnx.
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Logits(model.eval(), names).eval(),
            tuple(encoded[name] for name in names),
            str(target / "onnx" / "model.onnx"),
            input_names=names,
            output_names=["logits"],
            dynamic_axes=axes,
            opset_version=17,
            dynamo=False,
        )
    for name in COPIED:
        if (source / name).exists():
            shutil.copy(source / name, target / name)


if __name__ == "__main__":
    export(Path(sys.argv[1]), Path(sys.argv[2]))
