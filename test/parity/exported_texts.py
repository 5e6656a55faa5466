"""Tiny text classifiers exported by scripts/export.py: which there are, and how they are written."""

import importlib.util
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import tiny_models
import tiny_tokenizers as tokens
import torch
import transformers
from common import floats, versions, write_json
from exported_golden import save_without_traces
from texts import TEXTS
from transformers import pipeline

FILE = "model.pt2"
LENGTH = 40
VOCABULARY_SIZE = 400
SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": LENGTH,
}
SMALL_GPT = {"n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": LENGTH}
GROUPED = {**SMALL, "num_key_value_heads": 1}
OPT = {**SMALL, "ffn_dim": 24, "word_embed_proj_dim": 16}
T5 = {"d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 1, "num_heads": 2, "decoder_start_token_id": 1}
BART = {
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "max_position_embeddings": LENGTH,
    "decoder_start_token_id": 2,
}
DEBERTA = {
    **SMALL,
    "relative_attention": True,
    "pos_att_type": ["c2p", "p2c"],
    "position_biased_input": False,
    "type_vocab_size": 0,
}
XLNET = {"d_model": 16, "n_layer": 1, "n_head": 2, "d_inner": 24}
XLM = {"emb_dim": 16, "n_layers": 1, "n_heads": 2, "max_position_embeddings": LENGTH}
MOBILE_BERT = {**SMALL, "embedding_size": 16, "intra_bottleneck_size": 16, "true_hidden_size": 16}
SQUEEZE_BERT = {**SMALL, "embedding_size": 16, **dict.fromkeys(["q_groups", "k_groups", "v_groups"], 2), "output_groups": 2}
LONGFORMER = {**SMALL, "max_position_embeddings": LENGTH + 2, "attention_window": [8]}
NYSTROMFORMER = {**SMALL, "segment_means_seq_len": 40, "num_landmarks": 40}
# As in text_golden, with room for logits that are spread apart.
FLOAT32_ERROR = 4e-6
LABEL_MARGIN = 1e-3
FEWEST = 5  # texts of each label


@dataclass(frozen=True)
class Spec:
    name: str
    architecture: str  # "Bert" of transformers.BertForSequenceClassification, and so on
    tokenizer: Callable[..., int]
    config: dict = field(default_factory=lambda: SMALL)
    labels: int = 2
    seed: int = 0
    decomposed: bool = False


SPECS = [
    Spec("bert", "Bert", tokens.save_bert, labels=3),
    Spec("bert-decomposed", "Bert", tokens.save_bert, labels=3, decomposed=True),
    Spec("gpt2", "GPT2", tokens.save_gpt2, SMALL_GPT),
    Spec("gpt-neox", "GPTNeoX", tokens.save_gpt2),
    Spec("llama", "Llama", tokens.save_llama, GROUPED, labels=3),
    Spec("llama-decomposed", "Llama", tokens.save_llama, GROUPED, labels=3, decomposed=True),
    Spec("qwen2", "Qwen2", tokens.save_gpt2, GROUPED),
    Spec("mistral", "Mistral", tokens.save_llama, {**GROUPED, "sliding_window": 8}),
    Spec("gemma", "Gemma", tokens.save_llama, {**GROUPED, "head_dim": 8}),
    Spec("phi3", "Phi3", tokens.save_llama, GROUPED),
    Spec("bloom", "Bloom", tokens.save_gpt2, {"hidden_size": 16, "n_layer": 1, "n_head": 2}),
    Spec("opt", "OPT", tokens.save_llama, OPT),
    Spec("t5", "T5", tokens.save_t5, T5, labels=3),
    Spec("bart", "Bart", tokens.save_roberta, BART),
    Spec("deberta", "Deberta", tokens.save_modernbert, DEBERTA),
    Spec("xlnet", "XLNet", tokens.save_xlnet, XLNET),
    Spec("xlm", "XLM", tokens.save_bert, XLM, seed=1),
    Spec("big-bird", "BigBird", tokens.save_albert, {**SMALL, "attention_type": "original_full"}),
    Spec("fnet", "FNet", tokens.save_albert),
    Spec("nystromformer", "Nystromformer", tokens.save_albert, NYSTROMFORMER),
    Spec("mobilebert", "MobileBert", tokens.save_bert, MOBILE_BERT, seed=1),
    Spec("squeezebert", "SqueezeBert", tokens.save_bert, SQUEEZE_BERT),
    Spec("convbert", "ConvBert", tokens.save_bert, {**SMALL, "embedding_size": 16, "conv_kernel_size": 3}),
    Spec("roformer", "RoFormer", tokens.save_bert, {**SMALL, "embedding_size": 8}, seed=3),
    Spec("longformer", "Longformer", tokens.save_roberta, LONGFORMER),
]
PREFIX = "exported-"
BY_DIRECTORY = {PREFIX + spec.name: spec for spec in SPECS}


def script():
    """scripts/export.py, which is no part of a package."""
    path = Path(__file__).resolve().parents[2] / "scripts/export.py"
    sys.path.insert(0, str(path.parent))
    specification = importlib.util.spec_from_file_location("export_script", path)
    module = importlib.util.module_from_spec(specification)
    sys.modules["export_script"] = module
    specification.loader.exec_module(module)
    return module


def load(spec: Spec) -> tuple:
    """The module itself, its tokenizer and its limit. It is not in the directory, but made again."""
    with tempfile.TemporaryDirectory() as source:
        write_model(spec, Path(source))
        return script().load_text_model(Path(source), None)


def make(spec: Spec, directory: Path) -> None:
    export = script()
    module, tokenizer, limit = load(spec)
    lengths = [11, 7]
    inputs = export.text_inputs(module, tokenizer, lengths)
    program, meaning = export.export(module, inputs, export.text_shapes(inputs, limit, False))
    save_without_traces(program, directory / FILE, spec.decomposed)
    tokenizer.save_pretrained(directory)
    module.model.config.save_pretrained(directory)
    tiny_models.compact(directory / "tokenizer.json")
    batches = [[5], [limit], lengths] if "any number" in meaning else [[5], [limit]]
    written = torch.export.load(directory / FILE).module()
    export.check(written, module, [export.text_inputs(module, tokenizer, rows) for rows in batches])
    make_golden(module, tokenizer, limit, directory)
    print(f"{directory.name}: {(directory / FILE).stat().st_size} bytes, {meaning}")


def write_model(spec: Spec, directory: Path) -> None:
    size = spec.tokenizer(directory, VOCABULARY_SIZE, model_max_length=LENGTH)
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    names = tiny_models.LABELS[spec.labels]
    config = getattr(transformers, f"{spec.architecture}Config")(
        **{
            "vocab_size": size,
            "pad_token_id": tokenizer.pad_token_id,
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
            "id2label": dict(enumerate(names)),
            "label2id": {label: index for index, label in enumerate(names)},
            **spec.config,
        }
    )
    model = getattr(transformers, f"{spec.architecture}ForSequenceClassification")(config).eval()
    randomize(model, spec.seed)
    spread_logits(model, tokenizer, spec.labels)
    model.save_pretrained(directory)


def randomize(model: torch.nn.Module, seed: int) -> None:
    """As tiny_models does, for models whose names of parameters are others: matrices that keep the size of
    what they are given, gains around 1."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            noise = torch.randn(parameter.shape, generator=generator)
            if parameter.dim() > 1:
                fan = parameter[0].numel() if parameter.shape[0] != VOCABULARY_SIZE else 2
                parameter.copy_(noise / fan**0.5)
            else:
                parameter.copy_(0.3 * noise + (1 if "norm" in name.lower() and "bias" not in name else 0))


def spread_logits(model: torch.nn.Module, tokenizer, labels: int) -> None:
    """Where all texts have nearly the same answer: logits of mean 0 and deviation 1."""
    heads = [part for part in model.modules() if isinstance(part, torch.nn.Linear) and part.out_features == labels]
    if not heads or heads[-1].bias is None:
        return
    cut = {"truncation": True, "max_length": LENGTH, "return_tensors": "pt"}
    with torch.no_grad():
        logits = torch.cat([model(**tokenizer(text, **cut)).logits for _, text in TEXTS])
        counts = torch.bincount(logits.argmax(1), minlength=labels)
        if counts.min() >= FEWEST:
            return
        scale = 1 / logits.std(0)
        heads[-1].weight.mul_(scale.unsqueeze(1))
        heads[-1].bias.sub_(logits.mean(0)).mul_(scale)


def make_golden(module: torch.nn.Module, tokenizer, limit: int, directory: Path) -> None:
    """As text_golden does for models with a path of their own: each text alone, by the module itself."""
    model = module.model
    classify = pipeline("text-classification", model=model, tokenizer=tokenizer, device="cpu")
    cut = {"truncation": True, "max_length": limit}
    encodings = [tokenizer(text, return_tensors="pt", **cut) for _, text in TEXTS]
    with torch.inference_mode():
        logits = [model(**encoded).logits[0] for encoded in encodings]
        exact = [model.double()(**encoded).logits[0] for encoded in encodings]
    model.float()
    rows = []
    for (_, text), encoded, single, reference in zip(TEXTS, encodings, logits, exact):
        error = (single - reference).abs().max().item() / max(1.0, reference.abs().max().item())
        ranked = sorted(single.tolist(), reverse=True)
        assert error < FLOAT32_ERROR, f"{directory.name}: {text!r}: {error}"
        assert ranked[0] - ranked[1] > LABEL_MARGIN, f"{directory.name}: {text!r}: {ranked}"
        top = classify(text, **cut)[0]
        rows.append(
            {
                "input_ids": encoded["input_ids"][0].tolist(),
                "truncated": len(tokenizer(text)["input_ids"]) > encoded["input_ids"].shape[1],
                "logits": floats(single),
                "label": top["label"],
                "score": top["score"],
            }
        )
    write_json(directory / "golden.json", {"versions": versions(), "max_length": limit}, "answers", rows)
    labels = [row["label"] for row in rows]
    print(f"{directory.name}: shortest {min(len(row['input_ids']) for row in rows)}, "
          f"labels {[labels.count(label) for label in sorted(set(labels))]}")
