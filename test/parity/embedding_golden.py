"""Tiny encoders with the answers of sentence-transformers and transformers for embeddings, token
classes and SPLADE. How to run it: see make_golden.py."""

import json
import shutil
import warnings
from pathlib import Path

import embedding_specs as specs
import rotary_golden
import sentence_transformers
import tiny_models
import torch
import transformers
from common import versions, write_json
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer, SparseEncoder
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.sentence_transformer.modules import LayerNorm, Pooling
from sentence_transformers.sparse_encoder.modules import SpladePooling
from texts import TEXTS

FLOAT32 = {"dtype": torch.float32}  # whatever the files hold
# Largest difference, relative above 1, to float64 that golden numbers may have.
FLOAT32_ERROR = 3e-6
INDICES = [0, 5, 7, 13, 18, 27, 34, 40, 42, 45]  # of TEXTS
KNOWN_INDICES = [0, 5, 7, 13, 27, 44, 45]
ACTIVATIONS = {
    "tanh": torch.nn.Tanh(),
    "gelu": torch.nn.GELU(),
    "relu": torch.nn.ReLU(),
    "sigmoid": torch.nn.Sigmoid(),
    "silu": torch.nn.SiLU(),
    "linear": torch.nn.Identity(),
}


def make(directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    warnings.filterwarnings("ignore")
    for family in specs.FAMILIES:
        make_plain(directory / "encoders" / family.name, family)
        make_tokens(directory / "tokens" / family.name, family)
        make_splade(directory / "splade" / family.name, family, {})
    rotary_golden.make(directory / "encoders", write_golden, encode_all, load)
    for name, family, config in specs.MASKED_LM_VARIANTS:
        make_splade(directory / "splade" / name, family, config)
    for layout in specs.LAYOUTS:
        make_layout(directory / "sentences" / layout.name, layout)


def load(directory: Path) -> SentenceTransformer:
    return SentenceTransformer(str(directory), device="cpu", model_kwargs=FLOAT32)


def save_encoder(directory: Path, kind: str, spec) -> None:
    """kind: "Model", "ForTokenClassification" or "ForMaskedLM"."""
    directory.mkdir(parents=True)
    vocabulary_size = spec.tokenizer(directory, tiny_models.VOCABULARY_SIZE, **spec.tokenizer_settings)
    config = tiny_models.configuration(spec, vocabulary_size)
    model = getattr(transformers, f"{spec.architecture}{kind}")(config).eval()
    tiny_models.randomize(model, spec.seed)
    model.to(torch.float16).save_pretrained(directory)
    tiny_models.compact(directory / "tokenizer.json")


def write_golden(directory: Path, head: dict, settings: dict, rows: list[dict]) -> None:
    entries = {"versions": versions() | {"sentence_transformers": sentence_transformers.__version__}}
    write_json(directory / "golden.json", {**entries, "head": head, **settings}, "answers", rows)
    size = sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())
    print(f"{directory.parent.name}/{directory.name}: {len(rows)} texts, {size / 1000:.0f} kB")


def shortest(values: torch.Tensor) -> list[float]:
    """float32's own shortest decimals."""
    return [float(str(value)) for value in values.to(torch.float32).flatten().numpy()]


def check(name: str, answer: torch.Tensor, exact: torch.Tensor) -> None:
    error = (answer.double() - exact).abs().max().item()
    assert error < FLOAT32_ERROR * max(1.0, exact.abs().max().item()), f"{name}: {error}"


def make_plain(directory: Path, family: specs.Family) -> None:
    """What save_pretrained of a base model writes: the mean of its tokens."""
    save_encoder(directory, "Model", family.spec(model_max_length=tiny_models.POSITION_LIMIT))
    model = load(directory)
    head = {"name": "embedding", "modules": [specs.pooling("mean")]}
    write_golden(directory, head, {"prompt": ""}, encode_all(directory, model, "", by_token=False))


def encode_all(directory: Path, model: SentenceTransformer, prompt: str, by_token: bool) -> list[dict]:
    kind = "token_embeddings" if by_token else "sentence_embedding"
    rows = []
    for index in INDICES:
        text = TEXTS[index][1]
        ids = model.tokenize([prompt + text])["input_ids"][0].tolist()
        values = model.encode(text, output_value=kind, convert_to_tensor=True)
        rows.append({"text": index, "input_ids": ids, "values": shortest(values)})
    double = model.double()
    for row in rows:
        exact = double.encode(TEXTS[row["text"]][1], output_value=kind, convert_to_tensor=True)
        check(str(directory), torch.tensor(row["values"]), exact.flatten())
    return rows


def make_tokens(directory: Path, family: specs.Family) -> None:
    save_encoder(directory, "ForTokenClassification", family.spec())
    auto = transformers.AutoModelForTokenClassification
    model = auto.from_pretrained(directory, **FLOAT32).eval()
    exact = auto.from_pretrained(directory, dtype=torch.float64).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    rows = []
    for index in INDICES[:8]:
        cut = {"truncation": True, "max_length": tiny_models.POSITION_LIMIT}
        encoded = tokenizer(TEXTS[index][1], return_tensors="pt", **cut)
        with torch.inference_mode():
            logits = model(**encoded).logits[0]
            check(str(directory), logits, exact(**encoded).logits[0])
        ids = encoded["input_ids"][0].tolist()
        rows.append({"text": index, "input_ids": ids, "values": shortest(logits)})
    write_golden(directory, {"name": "token-classification"}, {"prompt": ""}, rows)


def make_splade(directory: Path, family: specs.Family, config: dict) -> None:
    spec = specs.Family(directory.name, family.architecture, family.tokenizer, {**family.config, **config})
    save_encoder(directory, "ForMaskedLM", spec.spec())
    variants = [("max", "relu"), ("sum", "relu")] if family is specs.BERT else [("max", "relu")]
    if directory.name == "distilbert":
        variants = [("max", "log1p_relu"), ("sum", "log1p_relu")]
    rows = []
    transformer = Transformer(
        str(directory), transformer_task="fill-mask", model_kwargs=FLOAT32, max_seq_length=tiny_models.POSITION_LIMIT
    )
    for strategy, activation in variants:
        model = SparseEncoder(modules=[transformer, SpladePooling(strategy, activation)], device="cpu")
        for index in INDICES[1:4]:
            text = TEXTS[index][1]
            ids = model.tokenize([text])["input_ids"][0].tolist()
            values = model.encode(text, convert_to_tensor=True, convert_to_sparse_tensor=False)
            row = {"text": index, "pooling": strategy, "activation": activation, "input_ids": ids}
            rows.append({**row, "values": shortest(values)})
    strategy, activation = variants[0]
    model = SparseEncoder(modules=[transformer, SpladePooling(strategy, activation)], device="cpu")
    saved = directory.with_suffix(".saved")
    model.save(str(saved), create_model_card=False)
    for name in ("modules.json", "sentence_bert_config.json", "config_sentence_transformers.json", "1_SpladePooling"):
        shutil.move(saved / name, directory / name)
    shutil.rmtree(saved)
    write_golden(directory, {"name": "masked-lm"}, {"prompt": ""}, rows)


def make_layout(directory: Path, layout: specs.Layout) -> None:
    source = directory.with_suffix(".source")
    save_encoder(source, "Model", layout.family.spec(seed=layout.seed))
    limit = layout.max_length or tiny_models.POSITION_LIMIT
    by_token = not any(module["type"] == "pooling" for module in layout.modules)
    name = "token_embeddings" if by_token else "sentence_embedding"
    modules = [Transformer(str(source), max_seq_length=limit)]  # in float16
    size = 16
    torch.manual_seed(layout.seed)
    for module in layout.modules:
        made, size = make_module(module, size, name)
        modules.append(made)
    model = SentenceTransformer(
        modules=modules, device="cpu", prompts=layout.prompts, default_prompt_name=layout.default_prompt
    )
    model.save(str(directory), create_model_card=False)
    shutil.rmtree(source)
    tiny_models.compact(directory / "tokenizer.json")
    as_version(directory, layout, limit)
    model = SentenceTransformer(str(directory), device="cpu", model_kwargs=FLOAT32)
    prompt = layout.prompts.get(layout.default_prompt, "")
    head = {"name": "embedding", "modules": with_files(directory, layout)}
    write_golden(directory, head, {"prompt": prompt}, encode_all(directory, model, prompt, by_token))


def make_module(module: dict, size: int, name: str) -> tuple[torch.nn.Module, int]:
    """The module, and how many numbers it gives."""
    if module["type"] == "pooling":
        pooling = Pooling(size, tuple(module["modes"]), include_prompt=module["includePrompt"])
        return pooling, size * len(module["modes"])
    if module["type"] == "normalize":
        return Normalize(module_input_name=name), size
    if module["type"] == "layer-norm":
        norm = LayerNorm(module["dimension"])
        randomize(norm)
        return norm, size
    dense = Dense(
        module["inFeatures"],
        module["outFeatures"],
        bias=module["bias"],
        activation_function=ACTIVATIONS[module["activation"]],
        module_input_name=name,
        use_residual=module["residual"],
    )
    randomize(dense)
    return dense, module["outFeatures"]


def randomize(module: torch.nn.Module) -> None:
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            offset = 1 if name == "norm.weight" else 0
            parameter.copy_(offset + 0.3 * torch.randn(parameter.shape))


def with_files(directory: Path, layout: specs.Layout) -> list[dict]:
    file = "pytorch_model.bin" if layout.binary else "model.safetensors"
    modules = []
    for number, module in enumerate(layout.modules, 1):
        [folder] = [*directory.glob(f"{number}_*")] or [None]
        if module["type"] in ("dense", "layer-norm"):
            module = {**module, "weightFiles": [f"{folder.name}/{file}"]}
        modules.append(module)
    return modules


def as_version(directory: Path, layout: specs.Layout, limit: int) -> None:
    """Rewrites what release 6 saved as an older release would have."""
    if layout.version == 6:
        return
    for path in directory.glob("modules.json"):
        modules = json.loads(path.read_text())
        for module in modules:
            module["type"] = f"sentence_transformers.models.{module['type'].rsplit('.', 1)[1]}"
        path.write_text(json.dumps(modules, indent=2))
    old = {"max_seq_length": limit, "do_lower_case": False}
    (directory / "sentence_bert_config.json").write_text(json.dumps(old, indent=4))
    for path in directory.glob("*_Pooling/config.json"):
        path.write_text(json.dumps(old_pooling(json.loads(path.read_text()), layout.version), indent=4))
    for path in directory.glob("*_Normalize/config.json"):
        path.unlink()
        path.parent.rmdir()  # git keeps no empty folders, and the module has no file
    for path in directory.glob("*_Dense/config.json"):
        config = json.loads(path.read_text())
        kept = ("in_features", "out_features", "bias", "activation_function")
        path.write_text(json.dumps({key: config[key] for key in kept}))
    path = directory / "config_sentence_transformers.json"
    config = json.loads(path.read_text())
    config["__version__"]["sentence_transformers"] = f"{layout.version}.0.0"
    if layout.version == 2:
        config = {"__version__": config["__version__"]}
    path.write_text(json.dumps(config, indent=2))
    if layout.binary:
        for weights in directory.rglob("model.safetensors"):
            torch.save(load_file(weights), weights.with_name("pytorch_model.bin"))
            weights.unlink()


def old_pooling(config: dict, version: int) -> dict:
    modes = config["pooling_mode"]
    modes = [modes] if isinstance(modes, str) else modes
    names = {
        "cls": "pooling_mode_cls_token",
        "mean": "pooling_mode_mean_tokens",
        "max": "pooling_mode_max_tokens",
        "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
    }
    if version > 2:
        names |= {"weightedmean": "pooling_mode_weightedmean_tokens", "lasttoken": "pooling_mode_lasttoken"}
    entries = {key: mode in modes for mode, key in names.items()}
    prompt = {"include_prompt": config["include_prompt"]} if version > 2 else {}
    return {"word_embedding_dimension": config["embedding_dimension"], **entries, **prompt}


def make_known(model_directory: Path, file: Path) -> None:
    """The vectors of a whole model, all-MiniLM-L6-v2, of a few texts; six decimals."""
    model = SentenceTransformer(str(model_directory), device="cpu", model_kwargs=FLOAT32)
    texts = [TEXTS[index][1] for index in KNOWN_INDICES]
    rows = [
        {"text": index, "values": [round(float(value), 6) for value in model.encode(text)]}
        for index, text in zip(KNOWN_INDICES, texts)
    ]
    write_json(file, {"versions": versions() | {"sentence_transformers": sentence_transformers.__version__}}, "answers", rows)
