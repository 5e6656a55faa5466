"""Export a Hugging Face directory to ONNX for transformers.js and fastembed.

Usage: python export_onnx.py SRC_DIR OUT_DIR [TASK]

TASK: text-classification (where it is left out), reranking, tagging or embedding. Writes OUT_DIR/onnx/model.onnx
(float32, any batch size and length) and copies config.json and the tokenizer files.
"""

import json
import shutil
import sys
import warnings
from pathlib import Path

import torch
from transformers import AutoModel, AutoModelForSequenceClassification, AutoModelForTokenClassification, AutoTokenizer

COPIED = ["config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"]
TEXTS = ["a short text", "another, somewhat longer text"]
BATCH, SEQUENCE = {0: "batch"}, {0: "batch", 1: "sequence"}
# The model's class, the name of its output, and which of that output's axes have any length.
TASKS = {
    "text-classification": (AutoModelForSequenceClassification, "logits", BATCH),
    "reranking": (AutoModelForSequenceClassification, "logits", BATCH),
    "tagging": (AutoModelForTokenClassification, "logits", SEQUENCE),
    "embedding": (AutoModel, "last_hidden_state", SEQUENCE),
}


class Output(torch.nn.Module):
    """Takes its inputs in a fixed order and returns one output alone."""

    def __init__(self, model, names, output):
        super().__init__()
        self.model, self.names, self.output = model, names, output

    def forward(self, *inputs):
        return self.model(**dict(zip(self.names, inputs)), return_dict=True)[self.output]


def export(source: Path, target: Path, task: str) -> None:
    (target / "onnx").mkdir(parents=True)
    tokenizer = AutoTokenizer.from_pretrained(source)
    kind, output, output_axes = TASKS[task]
    model = kind.from_pretrained(source, attn_implementation="eager")
    encoded = tokenizer(TEXTS, padding=True, return_tensors="pt")
    names = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in encoded]
    axes = {name: SEQUENCE for name in names} | {output: output_axes}
    # The exporter that traces (dynamo=False) needs no package beside onnx.
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Output(model.eval(), names, output).eval(),
            tuple(encoded[name] for name in names),
            str(target / "onnx" / "model.onnx"),
            input_names=names,
            output_names=[output],
            dynamic_axes=axes,
            opset_version=17,
            dynamo=False,
        )
    for name in COPIED:
        if (source / name).exists():
            shutil.copy(source / name, target / name)
    # Some are saved with a length that all texts are padded to.
    file = target / "tokenizer.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"padding": None, "truncation": None}))


if __name__ == "__main__":
    export(Path(sys.argv[1]), Path(sys.argv[2]), *(sys.argv[3:] or ["text-classification"]))
