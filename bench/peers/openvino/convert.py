"""Convert a Hugging Face directory to OpenVINO, in float32 and in 8 bits as NNCF advises for transformers.

Usage: python convert.py TASK SRC_DIR OUT_DIR TEXTS.json

TASK: embedding, reranking, tagging or classifying. Writes OUT_DIR/float32.xml and OUT_DIR/int8.xml, with the pooling of
sentence-transformers (mean, length 1) for embeddings. TEXTS.json: texts, or pairs of them, that the ranges of activations
are taken from.
"""

import json
import sys
from pathlib import Path

import nncf
import openvino as ov
import torch
from transformers import AutoModel, AutoModelForSequenceClassification, AutoModelForTokenClassification, AutoTokenizer

CLASSES = {
    "embedding": AutoModel,
    "reranking": AutoModelForSequenceClassification,
    "tagging": AutoModelForTokenClassification,
    "classifying": AutoModelForSequenceClassification,
}


class Output(torch.nn.Module):
    """The logits, or the mean of the states, of length 1."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask, token_type_ids=None):
        output = self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        if "logits" in output:
            return output.logits
        mask = attention_mask.unsqueeze(-1).to(torch.float32)
        mean = (output.last_hidden_state * mask).sum(1) / mask.sum(1)
        return torch.nn.functional.normalize(mean, dim=-1)


def convert(task: str, source: Path, target: Path, inputs: list) -> None:
    target.mkdir(parents=True, exist_ok=True)
    tokenizer = AutoTokenizer.from_pretrained(source)
    config = json.loads((source / "config.json").read_text())
    # DeBERTa has no other implementation, and no types of tokens.
    is_deberta = config["model_type"].startswith("deberta")
    attention = "eager" if is_deberta else "sdpa"
    model = CLASSES[task].from_pretrained(source, dtype=torch.float32, attn_implementation=attention).eval()
    names = ("input_ids", "attention_mask") if is_deberta else ("input_ids", "attention_mask", "token_type_ids")

    def encode(batch: list, kind: str) -> dict:
        encoded = tokenizer(batch, padding=True, truncation=True, max_length=512, return_tensors=kind)
        return {name: encoded[name] for name in names}

    with torch.no_grad():
        converted = ov.convert_model(Output(model), example_input=encode(inputs[:2], "pt"))
    ov.save_model(converted, target / "float32.xml", compress_to_fp16=False)
    data = nncf.Dataset([encode([each], "np") for each in inputs])
    quantized = nncf.quantize(
        converted, data, model_type=nncf.ModelType.TRANSFORMER, subset_size=len(inputs)
    )
    ov.save_model(quantized, target / "int8.xml", compress_to_fp16=False)


if __name__ == "__main__":
    convert(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), json.loads(Path(sys.argv[4]).read_text()))
