"""Tiny embedders exported by scripts/export.py, with the answers of SentenceTransformer.encode. How to run it: see
make_golden.py."""

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import embedding_golden as golden
import tiny_models
import tiny_tokenizers as tokens
import torch
import transformers
from exported_golden import save_without_traces
from exported_texts import FILE, LENGTH, VOCABULARY_SIZE, script
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.sentence_transformer.modules import Pooling
from texts import TEXTS

SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": LENGTH,
}


@dataclass(frozen=True)
class Spec:
    name: str
    architecture: str  # "NomicBert" of transformers.NomicBertModel, and so on
    tokenizer: object
    modules: tuple[tuple, ...]
    config: dict = field(default_factory=dict)
    prompts: dict = field(default_factory=dict)
    default_prompt: str | None = None


SPECS = [
    Spec(
        "nomic-bert",
        "NomicBert",
        tokens.save_bert,
        (("pooling", "mean"), ("normalize",)),
        prompts={"search_query": "search_query: ", "search_document": "search_document: "},
        default_prompt="search_document",
    ),
    Spec("gte", "Gte", tokens.save_bert, (("pooling", "cls"), ("dense", 16, 8))),
    Spec(
        "euro-bert",
        "EuroBert",
        tokens.save_llama,
        (("pooling", "lasttoken", "max"), ("normalize",)),
        {"num_key_value_heads": 1},
    ),
    Spec("jina-v3", "JinaEmbeddingsV3", tokens.save_xlm_roberta, (("pooling", "mean"), ("normalize",))),
]


def make(directory: Path) -> None:
    for spec in SPECS:
        with tempfile.TemporaryDirectory() as source:
            write_model(spec, Path(source))
            export(spec, Path(source), directory / spec.name)


def write_model(spec: Spec, directory: Path) -> None:
    encoder = directory / "encoder"
    encoder.mkdir()
    size = spec.tokenizer(encoder, VOCABULARY_SIZE, model_max_length=LENGTH)
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder)
    special = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "bos", "eos")}
    config = getattr(transformers, f"{spec.architecture}Config")(vocab_size=size, **special, **SMALL, **spec.config)
    model = getattr(transformers, f"{spec.architecture}Model")(config).eval()
    tiny_models.randomize(model, 1)
    model.save_pretrained(encoder)
    torch.manual_seed(1)
    modules = [Transformer(str(encoder)), *(make_module(*module) for module in spec.modules)]
    model = SentenceTransformer(
        modules=modules, device="cpu", prompts=spec.prompts, default_prompt_name=spec.default_prompt
    )
    model.save(str(directory / "model"), create_model_card=False)


def make_module(kind: str, *arguments) -> torch.nn.Module:
    if kind == "pooling":
        return Pooling(SMALL["hidden_size"], arguments)
    if kind == "normalize":
        return Normalize()
    dense = Dense(*arguments)
    golden.randomize(dense)
    return dense


def export(spec: Spec, source: Path, directory: Path) -> None:
    by = script()
    from export_embedding import Embedder  # beside the script

    embedder = Embedder(source / "model")
    assert embedder.problem is None and embedder.difference() < 1e-6, spec.name
    limit = embedder.limited_to(by.limit_of(embedder.encoder, embedder.tokenizer, None))
    inputs = by.text_inputs(embedder.module, embedder.tokenizer, [11, 7])
    program, meaning = by.export(embedder.module, inputs, by.text_shapes(inputs, limit, False))
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    save_without_traces(program, directory / FILE, False)
    embedder.save(directory)
    tiny_models.compact(directory / "tokenizer.json")
    model = SentenceTransformer(str(source / "model"), device="cpu", model_kwargs=golden.FLOAT32)
    model.max_seq_length = limit
    rows = []
    for index in golden.INDICES:
        values = model.encode(TEXTS[index][1], convert_to_tensor=True)
        rows.append({"text": index, "values": golden.shortest(values)})
    prompt = spec.prompts.get(spec.default_prompt, "")
    golden.write_golden(directory, {"name": "embedding"}, {"prompt": prompt}, rows)
    print(f"{directory.name}: {(directory / FILE).stat().st_size} bytes, {meaning}")
