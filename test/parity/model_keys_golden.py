"""Folders that differ in what their files say, with the answers of sentence-transformers and transformers.

How to run it: see make_golden.py. Writes test/fixtures/model-keys/base, a tiny random model, and cases.json: for each
case the files that it has beside the base's, or in their place, and either the right answer or, where the project does
not support a key, the words of which an error has to name one.
"""

import copy
import json
import shutil
import string
import tempfile
from pathlib import Path

import sentence_transformers
import tiny_models
import torch
import transformers
from common import versions, write_json
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.base.modules import Dense
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer, pipeline

WORDS = "a the film is quiet warm funny dull rain it uber this example about sports cinema how long".split()
LONG = " ".join(WORDS * 3)
SETTINGS = "sentence_bert_config.json"
POOLING = "1_Pooling/config.json"
MEAN = {"embedding_dimension": 16, "pooling_mode": "mean"}
LABELS = ["sports", "cinema", "rain"]
SHORT = ["A quiet film", "the FILM is [MASK] uber"]


def make_base(directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    letters = string.ascii_lowercase + string.ascii_uppercase
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *".,", *("##" + c for c in letters), *WORDS]
    vocabulary = {word: at for at, word in enumerate(dict.fromkeys([*words, "Film", "FILM", "Über"]))}
    tokenizer = BertTokenizer(vocab=vocabulary, do_lower_case=False, model_max_length=16)
    tokenizer.save_pretrained(directory)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
        max_position_embeddings=48, num_labels=3,
    )  # fmt: skip
    model = BertForSequenceClassification(config).eval()
    tiny_models.randomize(model, 9)
    model.to(torch.float16).save_pretrained(directory)
    tiny_models.compact(directory / "tokenizer.json")
    dense = Dense(16, 16, bias=False)
    torch.nn.init.normal_(dense.linear.weight, generator=torch.Generator().manual_seed(3))
    (directory / "2_Dense").mkdir()
    dense.save_torch_weights(str(directory / "2_Dense"))
    # Loaded in float32, whatever the file holds.
    config = json.loads((directory / "config.json").read_text())
    config["dtype"] = "float32"
    (directory / "config.json").write_text(json.dumps(config, indent=1) + "\n")


def modules(*types: str) -> list:
    paths = ["", *(f"{at}_{kind}" for at, kind in enumerate(types, 1))]
    kinds = ["Transformer", *types]
    return [
        {"idx": at, "name": str(at), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for at, (kind, path) in enumerate(zip(kinds, paths))
    ]


class Case:
    """`files`: changes of JSON files, by path; of those that the base has the entries that differ."""

    def __init__(self, name: str, task: str, files: dict, texts: list = SHORT, rejects: list | None = None):
        self.name, self.task, self.files, self.texts, self.rejects = name, task, files, texts, rejects


def embedding(name: str, settings: dict, others: dict | None = None, kinds=("Pooling",), **more) -> Case:
    files = {SETTINGS: settings, "modules.json": modules(*kinds), POOLING: MEAN, **(others or {})}
    return Case(name, more.pop("task", "embedding"), files, **more)


def rejected(name: str, settings: dict, words: list, others: dict | None = None, **more) -> Case:
    return embedding(name, settings, others, rejects=words, **more)


def token(content: str, **given) -> dict:
    whole = {"content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": True}
    return {**whole, "special": False, **given}


ENTAILMENT = {"entailment": 0, "neutral": 1, "contradiction": 2}
TASK = {"transformer_task": "sequence-classification"}
CROSS = {
    "modules.json": modules(),
    "config_sentence_transformers.json": {"model_type": "CrossEncoder", "activation_fn": "torch.nn.Identity"},
}
PAIRS = [["a quiet FILM", LONG], ["how long is it", "Rain"]]
FORWARD = {"text": {"method": "forward", "method_output_name": "last_hidden_state"}}


def embeddings() -> list[Case]:
    long = {"texts": [LONG, "a film"]}
    lower = {"tokenizer_config.json": {"do_lower_case": True}}
    return [
        embedding("nothing said", {}, **long),
        embedding("longer than the tokenizer", {"max_seq_length": 32}, **long),
        embedding("shorter than the tokenizer", {"max_seq_length": 6}, **long),
        embedding("of an older name", {}, {SETTINGS: {}, "sentence_roberta_config.json": {"max_seq_length": 30}}, **long),
        embedding("tokenizer_args", {"max_seq_length": 32, "tokenizer_args": {"model_max_length": 8}}, **long),
        embedding("processor_kwargs", {"processor_kwargs": {"model_max_length": 24}}, **long),
        embedding("processing_kwargs of text", {"processing_kwargs": {"text": {"max_length": 8}}}, **long),
        embedding("processing_kwargs of all", {"max_seq_length": 6, "processing_kwargs": {"common": {"max_length": 20}, "text": {"max_length": 8}}}, **long),
        embedding("arguments without effect", {"model_args": {"attn_implementation": "eager"}, "config_args": {"use_cache": False}, "unpad_inputs": False, "processing_kwargs": {"text": {"padding": "longest", "truncation": True}, "audio": {"padding": True}}}),
        embedding("added token", {}, {**lower, "tokenizer_config.json": {"do_lower_case": True, "added_tokens_decoder": {"130": token("Über")}}}, texts=["a uber film", "a Über film", "it UBER"]),
        embedding("lower case", {"do_lower_case": True}, texts=["A [MASK] FILM [SEP] rain", "ÜBER Σ Film"]),
        embedding("lower case of a prompt", {"do_lower_case": True}, {"config_sentence_transformers.json": {"prompts": {"query": "HOW [SEP] "}, "default_prompt_name": "query"}, POOLING: {**MEAN, "include_prompt": False}}),
        embedding("ConvBertTokenizer", {}, {"tokenizer_config.json": {"tokenizer_class": "ConvBertTokenizer", "do_lower_case": True}}),
        embedding("BertTokenizer", {}, lower),
        embedding("model_max_length null", {}, {"tokenizer_config.json": {"model_max_length": None, "max_len": 8}}, **long),
        embedding("model_specific_special_tokens", {}, {"tokenizer_config.json": {"model_specific_special_tokens": {"film_token": "Film"}}}, texts=["aFilm Filma"]),
    ]  # fmt: skip


def chains() -> list[Case]:
    normalize, dense = "2_Normalize/config.json", "2_Dense/config.json"
    tokens = {"module_input_name": "token_embeddings"}
    weights = {"in_features": 16, "out_features": 16, "bias": False, "use_residual": True}
    linear = {**weights, "activation_function": "torch.nn.modules.linear.Identity"}
    through = ("Pooling", "Dense", "Normalize")
    third = "3_Normalize/config.json"
    return [
        embedding("normalizes tokens afterwards", {}, {normalize: tokens}, kinds=("Pooling", "Normalize")),
        embedding("normalizes what is not there", {}, {normalize: {"module_input_name": "image"}}, kinds=("Pooling", "Normalize")),
        embedding("normalizes under another name", {}, {normalize: {"module_output_name": "other"}}, kinds=("Pooling", "Normalize")),
        embedding("normalizes tokens before", {}, {"1_Normalize/config.json": tokens, "2_Pooling/config.json": MEAN}, kinds=("Normalize", "Pooling")),
        embedding("through another name", {}, {dense: {**linear, "module_output_name": "other"}, third: {"module_input_name": "other", "module_output_name": "sentence_embedding"}}, kinds=through),
        embedding("beside the answer", {}, {dense: {**linear, "module_output_name": "other"}, third: {}}, kinds=through),
        embedding("rows of tokens normalized afterwards", {}, {normalize: tokens}, kinds=("Pooling", "Normalize"), task="token-embedding"),
        embedding("rows of tokens", {"max_seq_length": 30}, kinds=("Pooling", "Normalize"), task="token-embedding", texts=[LONG]),
        rejected("reads what no module gives", {}, ["2_Dense"], {dense: {**linear, "module_input_name": "other"}}, kinds=("Pooling", "Dense")),
        rejected("pools nothing", {}, ["modules.json"], {"1_Normalize/config.json": {**tokens, "module_output_name": "sentence_embedding"}}, kinds=("Normalize",)),
    ]  # fmt: skip


def classifiers() -> list[Case]:
    def zero_shot(name: str, config: dict) -> Case:
        return Case(name, "zero-shot-classification", {"config.json": config}, ["the film is quiet"])

    named = {str(at): f"LABEL_{at}" for at in range(3)}
    own = {"0": "contradiction", "1": "neutral", "2": "entailment"}
    return [
        zero_shot("entailment of label2id", {"id2label": named, "label2id": ENTAILMENT}),
        zero_shot("label2id before id2label", {"id2label": own, "label2id": {"x": 0, "ENTAILED": 1, "y": 2}}),
        zero_shot("no entailment in label2id", {"id2label": {**own, "0": "entailment", "2": "x"}, "label2id": {"x": 0, "y": 1, "z": 2}}),
        zero_shot("both tables", {"id2label": own, "label2id": {"contradiction": 0, "neutral": 1, "entailment": 2}}),
        Case("pairs longer than the tokenizer", "reranking", {**CROSS, SETTINGS: {**TASK, "max_seq_length": 40}}, PAIRS),
        Case("pairs shorter", "reranking", {**CROSS, SETTINGS: {**TASK, "processing_kwargs": {"text": {"max_length": 12}}}}, PAIRS),
        Case("pairs in lower case", "reranking", {**CROSS, SETTINGS: {**TASK, "do_lower_case": True}}, PAIRS),
    ]  # fmt: skip


def rejections() -> list[Case]:
    def of_model(name: str, config: dict, words: list) -> Case:
        return Case(name, "text-classification", {"config.json": config}, rejects=words)

    def of_text(name: str, given: dict) -> Case:
        return rejected(name, {"processing_kwargs": {"text": given}}, ["processing_kwargs", SETTINGS])

    pooled = {"text": {"method": "forward", "method_output_name": "pooler_output"}}
    hidden = {"text": {"method": "forward", "method_output_name": ["hidden_states", 0]}}
    return [
        of_text("no special tokens", {"add_special_tokens": False}),
        of_text("special tokens split", {"split_special_tokens": True}),
        rejected("fewer layers", {"config_args": {"num_hidden_layers": 1}}, ["config_args", SETTINGS]),
        rejected("fewer layers by the newer name", {"config_kwargs": {"num_hidden_layers": 1}}, ["config_kwargs", SETTINGS]),
        rejected("another case", {"tokenizer_args": {"do_lower_case": True}}, ["tokenizer_args", SETTINGS]),
        rejected("another token for what is unknown", {"processor_kwargs": {"cls_token": "a"}}, ["processor_kwargs", SETTINGS]),
        rejected("pooler", {"modality_config": pooled, "module_output_name": "token_embeddings"}, ["modality_config"], kinds=(), texts=["a film"]),
        rejected("one vector", {"modality_config": pooled, "module_output_name": "sentence_embedding"}, ["modality_config", "module_output_name"], kinds=()),
        rejected("first layer", {"modality_config": hidden, "module_output_name": "token_embeddings"}, ["modality_config"]),
        rejected("another name", {"modality_config": FORWARD, "module_output_name": "sentence_embedding"}, ["module_output_name"], kinds=()),
        rejected("logits", {"transformer_task": "fill-mask"}, ["transformer_task"]),
        rejected("unknown argument", {"no_such_key": 1}, ["no_such_key"]),
        rejected("unknown argument of a module", {}, ["no_such_key"], {POOLING: {**MEAN, "no_such_key": 1}}),
        of_model("decoder", {"is_decoder": True}, ["is_decoder"]),
    ]  # fmt: skip


def all_cases() -> list[Case]:
    return [*embeddings(), *chains(), *classifiers(), *rejections()]


def build(base: Path, folder: Path, case: Case) -> None:
    shutil.copytree(base, folder)
    for place, content in case.files.items():
        path = folder / place
        path.parent.mkdir(exist_ok=True)
        if path.exists() and isinstance(content, dict):
            content = {**json.loads(path.read_text()), **content}
        path.write_text(json.dumps(content))


def answer(folder: Path, case: Case) -> list:
    if case.task == "embedding":
        return SentenceTransformer(str(folder), device="cpu").encode(case.texts, prompt=None).tolist()
    if case.task == "token-embedding":
        model = SentenceTransformer(str(folder), device="cpu")
        return [model.encode(text, output_value="token_embeddings").tolist() for text in case.texts]
    if case.task == "reranking":
        return CrossEncoder(str(folder), device="cpu").predict(case.texts).tolist()
    if case.task == "zero-shot-classification":
        classify = pipeline(case.task, model=str(folder))
        answers = [classify(text, LABELS) for text in case.texts]
        return [[dict(zip(one["labels"], one["scores"]))[label] for label in LABELS] for one in answers]
    classify = pipeline(case.task, model=str(folder), top_k=None)
    labels = [f"LABEL_{at}" for at in range(3)]
    return [[{one["label"]: one["score"] for one in answer}[label] for label in labels] for answer in classify(case.texts)]


def shortest(value):
    return [shortest(one) for one in value] if isinstance(value, list) else float(f"{value:.8g}")


def check_matters(base: Path, case: Case, answers, folder: Path) -> None:
    """A key that is rejected changes the answer of the reference, or is an error there, too."""
    without = copy.copy(case)
    without.files = {**case.files, SETTINGS: {}} if case.files.get(SETTINGS) else {}
    if case.task == "embedding" and not without.files:
        return  # not a matter of settings
    build(base, folder, without)
    try:
        plain = answer(folder, without)
    except Exception:
        return
    assert answers is None or answers != plain, f"{case.name}: changes nothing"


def make(directory: Path) -> None:
    base = directory / "base"
    make_base(base)
    rows = []
    for case in all_cases():
        with tempfile.TemporaryDirectory() as place:
            build(base, Path(place) / "model", case)
            try:
                answers = answer(Path(place) / "model", case)
            except Exception as error:
                assert case.rejects is not None, f"{case.name}: {error}"
                answers = None
            if case.rejects is not None:
                check_matters(base, case, answers, Path(place) / "plain")
        files = {"name": case.name, "task": case.task, "files": case.files, "texts": case.texts}
        rows.append({**files, "rejects": case.rejects} if case.rejects else {**files, "answers": shortest(answers)})
        print(case.name)
    head = {"versions": versions() | {"sentence_transformers": sentence_transformers.__version__}, "labels": LABELS}
    write_json(directory / "cases.json", head, "cases", rows)
