"""Tiny GLiClass models with the logits and scores of the package gliclass.

    pip install -r test/parity/requirements.txt && pip install --no-deps gliclass==0.1.21
    python test/parity/gliclass_golden.py  # test/fixtures/gliclass
"""

import shutil
from importlib.metadata import version
from pathlib import Path

import tiny_models
import tiny_tokenizers
import torch
from common import FIXTURES, floats, set_up, versions, write_json
from gliclass import GLiClassModel, GLiClassModelConfig, ZeroShotClassificationPipeline
from tiny_encoders import bert, deberta, modernbert
from transformers import AutoTokenizer

ROOT = FIXTURES / "gliclass"
MARKERS = ["<<LABEL>>", "<<SEP>>", "<<EXAMPLE>>"]
# Texts are longer than DEBERTA's positions.
DEBERTA = deberta(48)
BERT = bert(512)
MODERNBERT = modernbert(512)
# Name: tokenizer, encoder, settings of gliclass.
MODELS = {
    "deberta-simple": (tiny_tokenizers.save_deberta_v2, DEBERTA, {"prompt_first": True}),
    "deberta-weighted-dot": (
        tiny_tokenizers.save_deberta_v2,
        DEBERTA,
        {
            "scorer_type": "weighted-dot",
            "class_token_pooling": "average",
            "normalize_features": True,
            "logit_scale_init_value": 3.5,
            "pooling_strategy": "avg",
        },
    ),
    "bert-mlp": (
        tiny_tokenizers.save_bert,
        BERT,
        {"scorer_type": "mlp", "prompt_first": True, "embed_class_token": False, "extract_text_features": True},
    ),
    "bert-projected": (
        tiny_tokenizers.save_bert,
        BERT,
        {"hidden_size": 20, "projector_hidden_act": "relu", "pooling_strategy": "last", "normalize_features": True},
    ),
    "modernbert-hopfield": (
        tiny_tokenizers.save_modernbert,
        MODERNBERT,
        {
            "scorer_type": "hopfield",
            "prompt_first": True,
            "use_lstm": True,
            "pooling_strategy": "max",
            "class_token_pooling": "average",
            "extract_text_features": True,
            "embed_class_token": False,
        },
    ),
    "modernbert-cross-attention": (
        tiny_tokenizers.save_modernbert,
        MODERNBERT,
        {
            "scorer_type": "cross-attn",
            "pooling_strategy": "pass",
            "scorer_num_heads": 4,
            "scorer_mlp_hidden_size": 24,
            "prompt_first": True,
            "extract_text_features": True,
        },
    ),
}
# Settings without weights, on the first model.
VARIANTS = [
    {"pooling_strategy": pooling, "extract_text_features": extract, "class_token_pooling": average, "embed_class_token": embed}
    for pooling in ["first", "last", "max", "avg", "sum", "rms", "abs_max", "abs_avg"]
    for extract, average, embed in [(False, "first", True), (True, "average", False)]
] + [
    {"class_token_pooling": "average"},
    {"class_token_pooling": "average", "embed_class_token": False},
    {"class_token_pooling": "average", "extract_text_features": True},
    {"prompt_first": False, "extract_text_features": True, "pooling_strategy": "avg"},
    {"normalize_features": True},
]
LABELS = [
    ["film"],
    ["film", "date of birth", "travel"],
    ["", "a", "a", "product name, in quotation marks", "é 日本", " spaces "],
    [f"topic {index}" for index in range(30)],
]
PROMPTS = [None, "What is the text about?", " é"]
TEXTS = [
    "Ada Lovelace met Charles Babbage in London on 5 June 1833.",
    "",
    "The well-known actor's first_film (1994) cost $25 million — and earned 28.3!",
    "Zoë und Jürgen wohnen in Köln 😀 with e\u0301lan in 東京都 today. ",
    "\t one \n two\u00a0three ... ",
    "A warm, funny film that the whole family can watch together at home. ",
]


def randomize(model: torch.nn.Module, seed: int) -> None:
    """Wide random weights, so that labels, texts and biases change scores."""
    tiny_models.randomize(model, seed)
    generator = torch.Generator().manual_seed(seed + 100)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            if "encoder_model" in name or name.endswith("logit_scale"):
                continue
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.copy_((1.2 / parameter.shape[-1] ** 0.5 if parameter.dim() > 1 else 0.2) * noise)
        model.model.logit_scale.fill_(model.config.logit_scale_init_value)


def save(name: str, seed: int) -> Path:
    make_tokenizer, encoder, settings = MODELS[name]
    folder = ROOT / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    count = make_tokenizer(folder, tiny_models.VOCABULARY_SIZE, model_max_length=256)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    # Without special_tokens, the tokenizer finds the markers in the normalized text.
    tokenizer.add_tokens(MARKERS, special_tokens=name != "bert-projected")
    tokenizer.save_pretrained(folder)
    config = GLiClassModelConfig(
        encoder_model=name,
        encoder_config={"vocab_size": count + len(MARKERS), "pad_token_id": 0, **encoder},
        class_token_index=tokenizer.convert_tokens_to_ids("<<LABEL>>"),
        text_token_index=tokenizer.convert_tokens_to_ids("<<SEP>>"),
        example_token_index=tokenizer.convert_tokens_to_ids("<<EXAMPLE>>"),
        vocab_size=count + len(MARKERS),
        **settings,
    )
    model = GLiClassModel(config).eval()
    randomize(model, seed)
    model.save_pretrained(folder)
    tiny_models.compact(folder / "tokenizer.json")
    return folder


def logits_of(pipeline, text: str, labels: list[str], prompt: str | None) -> torch.Tensor:
    inputs = pipeline.pipe.prepare_inputs([text], labels, True, prompt=prompt)
    with torch.no_grad():
        return pipeline.pipe.model(**inputs, max_num_classes=len(labels)).logits[0]


def rows_of(pipeline) -> list[dict]:
    rows = []
    for labels in LABELS:
        for prompt in PROMPTS:
            for index, text in enumerate(TEXTS):
                logits = logits_of(pipeline, text, labels, prompt)
                if len(set(labels)) == len(labels):
                    check_pipeline(pipeline, text, labels, prompt, logits)
                rows.append({"text": index, "labels": labels, "prompt": prompt, "logits": floats(logits)})
    return rows


def check_pipeline(pipeline, text: str, labels: list[str], prompt: str | None, logits: torch.Tensor) -> None:
    """Single-label: the best label with softmax. Multi-label: sigmoid."""
    best = pipeline(text, labels, classification_type="single-label", prompt=prompt)[0][0]
    assert best["label"] == labels[int(logits.argmax())]
    assert abs(best["score"] - float(logits.softmax(-1).max())) < 1e-6
    every = pipeline(text, labels, threshold=0, classification_type="multi-label", prompt=prompt)[0]
    assert all(abs(one["score"] - float(value)) < 1e-6 for one, value in zip(every, logits.sigmoid()))


def long_row(pipeline, encoder: dict) -> list[dict]:
    """A text that the package truncates at its end. Other models lose their labels."""
    if not pipeline.pipe.model.config.prompt_first:
        return []
    # DeBERTa without a table of positions has no limit of its own.
    pipeline.pipe.max_length = 1024 if encoder["model_type"] == "deberta-v2" else encoder["max_position_embeddings"]
    text = " ".join(f"word {index}" for index in range(900))
    logits = logits_of(pipeline, text, LABELS[1], PROMPTS[1])
    return [{"text": text, "labels": LABELS[1], "prompt": PROMPTS[1], "logits": floats(logits)}]


def load(folder: Path):
    model = GLiClassModel.from_pretrained(folder, local_files_only=True).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return ZeroShotClassificationPipeline(model, tokenizer, device="cpu", progress_bar=False)


def variants(name: str, folder: Path) -> list[dict]:
    if name != next(iter(MODELS)):
        return []
    rows = []
    for settings in VARIANTS:
        pipeline = load(folder)
        for key, value in settings.items():
            setattr(pipeline.pipe.model.config, key, value)
        config = pipeline.pipe.model.config
        fresh = GLiClassModel(config).eval()  # the pooler is created from the configuration
        fresh.load_state_dict(pipeline.pipe.model.state_dict())
        pipeline.pipe.model = fresh
        rows.append({"config": settings, "logits": floats(logits_of(pipeline, TEXTS[2], LABELS[1], PROMPTS[1]))})
    return rows


def is_spread(rows: list[dict]) -> bool:
    """Some random weights give nearly the same score to all labels."""
    scores = [torch.tensor(row["logits"]).softmax(-1) for row in rows if len(row["labels"]) == 3]
    best = [float(score.max()) for score in scores]
    return min(best) < 0.9 and max(best) > 0.4 and len({int(score.argmax()) for score in scores}) > 1


def main() -> None:
    set_up()
    shutil.rmtree(ROOT, ignore_errors=True)
    for name in MODELS:
        for seed in range(1, 100):
            folder = save(name, seed)
            rows = rows_of(load(folder))
            if is_spread(rows):
                break
        else:
            raise RuntimeError(f"{name}: no seed gives spread scores")
        head = {
            "versions": {**versions(), "gliclass": version("gliclass")},
            "texts": TEXTS,
            "variants": variants(name, folder),
            "long": long_row(load(folder), MODELS[name][1]),
        }
        write_json(folder / "golden.json", head, "answers", rows)
        print(name, len(rows), "answers")


if __name__ == "__main__":
    main()
