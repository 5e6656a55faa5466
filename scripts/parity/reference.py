"""The answers of transformers (or, for a model.pt, of torch) that parity.mjs compares with.

Standard input: {"directory", "limit", "task", "texts"}; standard output: {"versions", "answers"}, an answer
for each text in order. One text at a time, in float32 on the CPU, with the ordinary AutoTokenizer
and AutoModelForSequenceClassification; label and score are those of the pipeline. Of a token classifier:
the spans of the pipeline, strategy by strategy.
"""

import json
import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"  # the directory is all there is
SAVED_WEIGHTS = ("model.safetensors", "pytorch_model.bin")


def main() -> None:
    request = json.load(sys.stdin)
    try:
        import torch
        import transformers
    except ImportError as error:
        json.dump({"missing": error.name}, sys.stdout)
        return
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    directory = Path(request["directory"])
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    # What `truncation=True` needs where the tokenizer itself knows no limit.
    cut = {"truncation": True, "max_length": min(tokenizer.model_max_length, request["limit"])}
    saved = any((directory / f"{name}{end}").exists() for name in SAVED_WEIGHTS for end in ("", ".index.json"))
    if request["task"] == "token-classification":
        answer = token_classifier(directory, tokenizer, cut)
    else:
        answer = saved_model(directory, tokenizer, cut) if saved else torchscript(directory, tokenizer, cut)
    with torch.inference_mode():
        answers = [answer(text) for text in request["texts"]]
    versions = {"transformers": transformers.__version__, "torch": torch.__version__}
    json.dump({"versions": versions, "answers": answers}, sys.stdout)


def saved_model(directory: Path, tokenizer, cut: dict):
    import torch
    from transformers import AutoModelForSequenceClassification, pipeline

    model = AutoModelForSequenceClassification.from_pretrained(directory, dtype=torch.float32).eval()
    classify = pipeline("text-classification", model=model, tokenizer=tokenizer, device="cpu")

    def answer(text: str) -> dict:
        encoded = tokenizer(text, return_tensors="pt", **cut)
        [top] = classify(text, **cut)
        logits = model(**encoded).logits[0].tolist()
        return {"tokens": encoded["input_ids"].shape[1], "logits": logits, "label": top["label"]}

    return answer


def token_classifier(directory: Path, tokenizer, cut: dict):
    import torch
    from transformers import AutoModelForTokenClassification, pipeline

    tokenizer.model_max_length = cut["max_length"]
    model = AutoModelForTokenClassification.from_pretrained(directory, dtype=torch.float32).eval()
    tag = pipeline("token-classification", model=model, tokenizer=tokenizer, device="cpu", ignore_labels=[])

    def answer(text: str) -> dict:
        spans = [
            [
                [span.get("entity", span.get("entity_group")), float(span["score"]), span["word"], span["start"], span["end"]]
                for span in tag(text, aggregation_strategy=strategy)
            ]
            for strategy in ("none", "simple", "first", "average", "max")
        ]
        return {"tokens": len(tokenizer(text, **cut)["input_ids"]), "spans": spans, "label": None}

    return answer


def torchscript(directory: Path, tokenizer, cut: dict):
    """A model.pt has no pipeline: its label is not compared, its logits are."""
    import torch

    model = torch.jit.load(directory / "model.pt", map_location="cpu").eval()
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    names = [argument.name for argument in model.forward.schema.arguments[1:]]
    if not set(names) <= set(inputs):
        names = inputs[: len(names)]

    def answer(text: str) -> dict:
        encoded = tokenizer(text, return_tensors="pt", **cut)
        output = model(*(encoded[name] for name in names))
        if isinstance(output, dict):
            output = output["logits"] if "logits" in output else next(iter(output.values()))
        logits = (output[0] if isinstance(output, (tuple, list)) else output)[0].tolist()
        return {"tokens": encoded["input_ids"].shape[1], "logits": logits, "label": None}

    return answer


if __name__ == "__main__":
    main()
