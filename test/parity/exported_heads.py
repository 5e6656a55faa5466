"""Tiny token classifiers and cross-encoders of architectures that have no code here, exported by scripts/export.py,
with the answers of transformers and sentence-transformers. How to run it: see make_golden.py."""

import shutil
import tempfile
from pathlib import Path

import cross_encoder_golden
import tagging_golden
import tiny_models
import torch
import transformers
from common import versions, write_json
from exported_embeddings import SMALL, SPECS, Spec
from exported_golden import save_without_traces
from exported_texts import FILE, LENGTH, VOCABULARY_SIZE, script
from sentence_transformers import CrossEncoder

SEEDS = {"nomic-bert": 1, "gte": 2, "euro-bert": 3, "jina-v3": 14}


def make(fixtures: Path) -> None:
    for spec in SPECS:
        with tempfile.TemporaryDirectory() as folder:
            make_tagger(spec, Path(folder), fixtures / "tagging" / f"exported-{spec.name}")
        with tempfile.TemporaryDirectory() as folder:
            make_reranker(spec, Path(folder), fixtures / "reranking" / f"exported-{spec.name}")


def make_tagger(spec: Spec, source: Path, directory: Path) -> None:
    write_model(spec, source, "TokenClassification", tagging_golden.LABELS)
    module, tokenizer, limit = script().load_text_model(source, None, "token-classification")

    def save(output: Path) -> None:
        tokenizer.save_pretrained(output)
        module.model.config.save_pretrained(output)

    export((module, tokenizer, limit), directory, save)
    tagging_golden.make_golden(directory, source)


def make_reranker(spec: Spec, source: Path, directory: Path) -> None:
    write_model(spec, source, "SequenceClassification", ["LABEL_0"])
    by = script()
    reranker = by.open_sentence_model(source, "reranking")
    limit = reranker.limited_to(by.limit_of(reranker.encoder, reranker.tokenizer, None))
    export((reranker.module, reranker.tokenizer, limit), directory, reranker.save)
    model = CrossEncoder(str(source), device="cpu", max_length=limit, model_kwargs={"dtype": torch.float32})
    answers = cross_encoder_golden.answers_of(model)
    write_json(directory / "golden.json", {"versions": versions()}, "answers", answers)


def write_model(spec: Spec, directory: Path, head: str, labels: list[str]) -> None:
    size = spec.tokenizer(directory, VOCABULARY_SIZE, model_max_length=LENGTH)
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    special = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "bos", "eos")}
    types = {"type_vocab_size": 2} if "token_type_ids" in tokenizer.model_input_names else {}
    config = getattr(transformers, f"{spec.architecture}Config")(
        vocab_size=size,
        **special,
        **SMALL,
        **types,
        **spec.config,
        id2label=dict(enumerate(labels)),
        label2id={label: index for index, label in enumerate(labels)},
    )
    model = getattr(transformers, f"{spec.architecture}For{head}")(config).eval()
    tiny_models.randomize(model, SEEDS[spec.name])
    model.save_pretrained(directory)


def export(model: tuple, directory: Path, save) -> None:
    module, tokenizer, limit = model
    by = script()
    inputs = by.text_inputs(module, tokenizer, [11, 7])
    program, meaning = by.export(module, inputs, by.text_shapes(inputs, limit, False))
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    save_without_traces(program, directory / FILE, False)
    save(directory)
    tiny_models.compact(directory / "tokenizer.json")
    print(f"{directory.name}: {(directory / FILE).stat().st_size} bytes, {meaning}")
