"""The answers of transformers (or, for a model.pt, of torch) that parity.mjs compares with.

Standard input: {"directory", "limit", "task", "texts", "prompt"?}; standard output: {"versions", "answers"}, an answer
for each text in order. One text at a time, in float32 on the CPU, with the ordinary AutoTokenizer
and AutoModelForSequenceClassification; label and score are those of the pipeline. Of a token classifier:
the spans of the pipeline, strategy by strategy. Of models of vectors and rerankers: what encode() and
predict() of sentence-transformers give; their tokens are not compared.
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
    os.environ["TQDM_DISABLE"] = "1"
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    # What `truncation=True` needs where the tokenizer itself knows no limit.
    cut = {"truncation": True, "max_length": min(tokenizer.model_max_length, request["limit"])}
    saved = any((directory / f"{name}{end}").exists() for name in SAVED_WEIGHTS for end in ("", ".index.json"))
    versions = {"transformers": transformers.__version__, "torch": torch.__version__}
    if request["task"] in SENTENCE_TRANSFORMERS:
        try:
            import sentence_transformers
        except ImportError as error:
            json.dump({"missing": error.name}, sys.stdout)
            return
        versions["sentence-transformers"] = sentence_transformers.__version__
        answer = SENTENCE_TRANSFORMERS[request["task"]](str(directory), request.get("prompt"))
    elif request["task"] == "token-classification":
        answer = token_classifier(directory, tokenizer, cut)
    else:
        answer = saved_model(directory, tokenizer, cut) if saved else torchscript(directory, tokenizer, cut)
    with torch.inference_mode():
        answers = [answer(text) for text in request["texts"]]
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
        return {"tokens": encoded["input_ids"].shape[1], "values": logits, "label": top["label"]}

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


def numbers(values) -> dict:
    return {"tokens": None, "values": values.float().reshape(-1).tolist(), "label": None}


def vectors(directory: str, prompt: str | None):
    import torch
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(directory, device="cpu", model_kwargs={"dtype": torch.float32})
    options = {"prompt_name": prompt, "convert_to_tensor": True, "show_progress_bar": False}
    return lambda text: numbers(model.encode(text, **options))


def vectors_of_tokens(directory: str, prompt: str | None):
    import torch
    from sentence_transformers import MultiVectorEncoder

    model = MultiVectorEncoder(directory, device="cpu", model_kwargs={"dtype": torch.float32})
    encode = {"query": model.encode_query, "document": model.encode_document}.get(prompt, model.encode)
    options = {} if prompt in ("query", "document") else {"prompt_name": prompt}
    return lambda text: numbers(encode(text, **options, show_progress_bar=False))


def weights_of_words(directory: str, prompt: str | None):
    import torch
    from sentence_transformers import SparseEncoder

    model = SparseEncoder(directory, device="cpu", model_kwargs={"dtype": torch.float32})
    options = {"prompt_name": prompt, "convert_to_sparse_tensor": False, "show_progress_bar": False}
    return lambda text: numbers(model.encode(text, **options))


def scores_of_pairs(directory: str, _prompt: str | None):
    import torch
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(directory, device="cpu", model_kwargs={"dtype": torch.float32})
    # As kinds.mjs.
    pair = lambda text: (text, f"About this: {text}")
    return lambda text: numbers(model.predict(pair(text), convert_to_tensor=True, show_progress_bar=False))


SENTENCE_TRANSFORMERS = {
    "embedding": vectors,
    "token-embedding": vectors_of_tokens,
    "sparse-embedding": weights_of_words,
    "reranking": scores_of_pairs,
}


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
        return {"tokens": encoded["input_ids"].shape[1], "values": logits, "label": None}

    return answer


if __name__ == "__main__":
    main()
