"""Tiny token classifiers, and the spans that the pipeline of transformers finds with them."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import tiny_models
import tiny_tokenizers
import torch
import transformers
from common import floats, versions, write_json
from tiny_specs import Spec
from transformers import AutoModelForTokenClassification, AutoTokenizer, pipeline

LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "MISC-X"]
CLASSES = ["private_person", "private_date", "secret"]
BIOES = ["O", *(f"{prefix}-{name}" for name in CLASSES for prefix in "BIES")]
LIMIT = tiny_models.POSITION_LIMIT
STRATEGIES = ("none", "simple", "first", "average", "max")
STRIDES = (0, 5)
# Smallest distance of the two highest probabilities of a token: below it a label is a matter of luck.
MARGIN = 2e-5
# Largest difference to float64 that a probability may have.
FLOAT32_ERROR = 4e-6
LONG_WORDS = 50_000

# A kind of tokenizer each, over encoders of several families.
SPECS = [
    Spec("bert", "Bert", tiny_tokenizers.save_bert, 1, 1),
    Spec("bert-cased", "Bert", tiny_tokenizers.save_bert_vocab_txt, 1, 2,
         tokenizer_settings={"do_lower_case": False}),
    Spec("distilbert-from-left", "DistilBert", tiny_tokenizers.save_bert, 1, 3,
         tokenizer_settings={"truncation_side": "left"}),
    Spec("electra", "Electra", tiny_tokenizers.save_bert_vocab_txt, 1, 45),
    Spec("roberta", "Roberta", tiny_tokenizers.save_roberta, 1, 5),
    Spec("roberta-prefix-space", "Roberta", tiny_tokenizers.save_roberta_vocab_json, 1, 6,
         tokenizer_settings={"add_prefix_space": True}),
    Spec("xlm-roberta", "XLMRoberta", tiny_tokenizers.save_xlm_roberta, 1, 7),
    Spec("camembert", "Camembert", tiny_tokenizers.save_camembert, 1, 8),
    Spec("albert", "Albert", tiny_tokenizers.save_albert, 1, 9, config={"embedding_size": 16}),
    Spec("mpnet", "MPNet", tiny_tokenizers.save_bert, 1, 10),
    Spec("deberta-v2", "DebertaV2", tiny_tokenizers.save_deberta_v2, 1, 11),
    Spec("modernbert", "ModernBert", tiny_tokenizers.save_modernbert, 1, 31),
    # A window and trained positions that are shorter than the texts, and gates that are clamped.
    Spec("privacy-filter", "OpenAIPrivacyFilter", tiny_tokenizers.save_o200k, 1, 1, config={
        "num_key_value_heads": 2, "head_dim": 8, "intermediate_size": 24, "num_local_experts": 6,
        "num_experts_per_tok": 2, "sliding_window": 5, "swiglu_limit": 1.5, "swiglu_alpha": 1.3,
        "pad_token_id": 2, "eos_token_id": 2, "rope_parameters": {
            "rope_type": "yarn", "rope_theta": 1000.0, "factor": 5.0, "beta_fast": 4.0, "beta_slow": 0.5,
            "truncate": False, "original_max_position_embeddings": 16}}),
]
# Models whose logits are compared as well, and their labels.
LABELS_OF = {"privacy-filter": BIOES}
# Biases of Viterbi decoding, in the file that openai/privacy-filter has.
BIASES = {
    "background_stay": 0.5, "background_to_start": -0.25, "inside_to_continue": 0.125,
    "inside_to_end": -0.5, "end_to_background": 0.25, "end_to_start": -0.125,
}  # fmt: skip

TEXTS = [
    "",
    " \t\n",
    "The film is a quiet marvel.",
    "  Angela   Merkel, born in Hamburg;\tlives (mostly) in Berlin-Mitte!  ",
    "Un film magnifique, dr\u00f4le et touchant: \u00c9lise e\u0301tait la\u0300, nai\u0308ve.",
    "\U0001f600 \U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 film \U0001f44d\U0001f3fd\U0001f1e9\U0001f1ea\U0001f600end",
    "\u8fd9\u90e8\u7535\u5f71\u975e\u5e38\u597d\u770b\uff0c\u5317\u4eac \U00020000\u91d1 is good\u3002",
    "\u0641\u064a\u0644\u0645 \u062c\u064a\u062f \u200f\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd film \u202eabc\u202c",
    "a\u0000b\u0007c\u00a0d\u2003e\u200bf\ufeffg\u0085h\u00adi",
    "\ufb01lm \uff21\uff22\uff23 \u2460 \u212b \u0130stanbul stra\u00dfe \u01c6 \u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2",
    "[CLS] the <mask> film [MASK] </s> is <s> good [SEP] xyz",
    "can't won't it's 'quoted' ``twice'' -- e-mail@example.org 3,14 %",
    "He reads the letter twice, folds it, and puts it back. " * 5,
    "The \U0001f600 e\u0301 \u7535\u5f71\u597d " * 12,
]


def make(directory: Path) -> None:
    write_json(directory / "texts.json", {}, "texts", TEXTS)
    for spec in SPECS:
        make_model(spec, directory / spec.name)
        make_golden(directory / spec.name)


def make_model(spec: Spec, directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    spec = replace(spec, tokenizer_settings={**spec.tokenizer_settings, "model_max_length": LIMIT})
    size = spec.tokenizer(directory, tiny_models.VOCABULARY_SIZE, **spec.tokenizer_settings)
    config = tiny_models.configuration(spec, size)
    labels = LABELS_OF.get(spec.name, LABELS)
    config.id2label = dict(enumerate(labels))
    config.label2id = {label: index for index, label in enumerate(labels)}
    model = getattr(transformers, f"{spec.architecture}ForTokenClassification")(config).eval()
    tiny_models.randomize(model, spec.seed)
    model.to(torch.float16).save_pretrained(directory)
    tiny_models.compact(directory / "tokenizer.json")
    if spec.name in LABELS_OF:
        biases = {f"transition_bias_{name}": bias for name, bias in BIASES.items()}
        calibration = {"operating_points": {"default": {"biases": biases}}}
        (directory / "viterbi_calibration.json").write_text(json.dumps(calibration, indent=1) + "\n")
        make_logits(directory)


def make_logits(directory: Path) -> None:
    """Logits of the tokens of each text."""
    tokenizer = AutoTokenizer.from_pretrained(directory)
    model = AutoModelForTokenClassification.from_pretrained(directory, dtype=torch.float32).eval()
    rows = []
    for index, text in enumerate(TEXTS):
        encoded = tokenizer(text, return_tensors="pt", truncation=True)
        if encoded["input_ids"].numel() == 0:
            continue
        with torch.inference_mode():
            logits = model(**encoded).logits[0]
        rows.append({"text": index, "ids": encoded["input_ids"][0].tolist(),
                     "logits": [[round(one, 7) for one in floats(row)] for row in logits]})
    write_json(directory / "logits.json", {"versions": versions()}, "rows", rows)


def make_golden(directory: Path, source: Path | None = None) -> None:
    """`source`: where the weights are, if `directory` has a program."""
    source = source or directory
    tokenizer = AutoTokenizer.from_pretrained(source)
    model = AutoModelForTokenClassification.from_pretrained(source, dtype=torch.float32).eval()
    tag = pipeline("token-classification", model=model, tokenizer=tokenizer, device="cpu")
    rows = []
    exact = AutoModelForTokenClassification.from_pretrained(source, dtype=torch.float64).eval()
    for index, text in enumerate(TEXTS):
        if not tokenizer(text)["input_ids"]:
            continue  # the pipeline fails
        check_stability((model, exact), tokenizer, text, directory.name)
        for strategy in STRATEGIES:
            spans = tag(text, aggregation_strategy=strategy)
            rows.append({"text": index, "strategy": strategy, "spans": short(spans)})
        for stride, strategy in zip(STRIDES, ("simple", "max"), strict=True):
            spans = tag(text, aggregation_strategy=strategy, stride=stride, ignore_labels=["LOC"])
            rows.append({"text": index, "strategy": strategy, "stride": stride, "spans": short(spans)})
    head = {"versions": versions()}
    if directory.name in ("bert", "xlm-roberta"):
        head["long"] = long(tag)
    write_json(directory / "golden.json", head, "rows", rows)
    print(f"{directory.name}: {sum(len(row['spans']) for row in rows)} spans")


def short(spans: list[dict]) -> list:
    """[label, score, word, start, end, index]. A first span of no character that the pipeline tells twice,
    where it puts windows together, is there once."""
    if len(spans) > 1 and spans[0] is spans[1]:
        spans = spans[1:]
    return [
        [
            span.get("entity", span.get("entity_group")),
            round(float(span["score"]), 7),
            span["word"],
            span["start"],
            span["end"],
            span.get("index"),
        ]
        for span in spans
    ]


def long_text() -> str:
    """The test puts the same one together."""
    words = ["the", "film", "is", "\U0001f600", "good,", "Berlin", "\u7535\u5f71", "caf\u00e9", "unknowable."]
    return " ".join(words[(i * i + i // 7) % len(words)] for i in range(LONG_WORDS))


def long(tag) -> dict:
    spans = short(tag(long_text(), aggregation_strategy="simple", stride=8))
    return {
        "count": len(spans),
        "begins": sum(span[3] for span in spans),
        "ends": sum(span[4] for span in spans),
        "score": sum(span[1] for span in spans) / len(spans),
        "first": spans[:5],
        "last": spans[-5:],
    }


def check_stability(models: tuple, tokenizer, text: str, name: str) -> None:
    """Golden spans must hang neither on the order of a sum nor on two labels that are nearly as probable."""
    for stride in STRIDES:
        encoded = tokenizer(
            text, return_tensors="pt", truncation=True, stride=stride,
            return_overflowing_tokens=True, padding=True,
        )
        encoded.pop("overflow_to_sample_mapping", None)
        with torch.inference_mode():
            probabilities, exact = (model(**encoded).logits.softmax(-1) for model in models)
        top = probabilities.topk(2).values
        margin = (top[..., 0] - top[..., 1])[encoded["attention_mask"] == 1]
        error = (probabilities - exact)[encoded["attention_mask"] == 1].abs().max().item()
        assert error < FLOAT32_ERROR, f"{name}: {text!r}: {error}"
        least = margin.min().item() if len(margin) else 1
        assert least > MARGIN, f"{name}: {text!r}: {least}"
