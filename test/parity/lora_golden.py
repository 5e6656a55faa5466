"""PEFT LoRA adapters over tiny bases, with the outputs of peft and transformers in float32.

test/fixtures/lora/<base>/ is a base model in float16, <adapter>/ the folder that PeftModel.save_pretrained writes.
<adapter>/golden.json has one row of numbers for each text of test/fixtures/texts.json that is listed in TEXTS.
"""

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import peft
import tiny_models
import tiny_tokenizers
import torch
import transformers
from common import FIXTURES, floats, versions, write_json
from peft import LoraConfig, PeftModel, get_peft_model
from tiny_specs import Spec
from transformers import AutoTokenizer

# Numbers of texts in texts.json: short and long ones, another script, and one of a single token.
TEXTS = [0, 2, 5, 6, 8, 13, 19, 27, 38, 39]
# Largest difference to float64 that a number of the reference may have: the test allows 1e-5.
FLOAT32_ERROR = 5e-6
LIMIT = {"model_max_length": tiny_models.POSITION_LIMIT}

# Class of the base, and its tiny model. Layer names differ by family.
BASES = {
    "bert": ("BertModel", Spec("bert", "Bert", tiny_tokenizers.save_bert, 2, 1, tokenizer_settings=LIMIT)),
    "roberta": ("RobertaForMaskedLM",
                Spec("roberta", "Roberta", tiny_tokenizers.save_roberta, 2, 2, tokenizer_settings=LIMIT)),
    "modernbert": ("ModernBertForMaskedLM",
                   Spec("modernbert", "ModernBert", tiny_tokenizers.save_modernbert, 2, 3, tokenizer_settings=LIMIT)),
    "deberta-v2": ("DebertaV2Model",
                   Spec("deberta-v2", "DebertaV2", tiny_tokenizers.save_deberta_v2, 2, 4, tokenizer_settings=LIMIT,
                        config={"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "share_att_key": True,
                                "position_buckets": 8, "norm_rel_ebd": "layer_norm",
                                "position_biased_input": False, "type_vocab_size": 0})),
    "jina-embeddings-v3": ("JinaEmbeddingsV3Model",
                           Spec("jina-embeddings-v3", "JinaEmbeddingsV3", tiny_tokenizers.save_xlm_roberta, 2, 6,
                                tokenizer_settings=LIMIT)),
    "gte": ("GteModel", Spec("gte", "Gte", tiny_tokenizers.save_xlm_roberta, 2, 7, tokenizer_settings=LIMIT)),
    "nomic-bert": ("NomicBertModel",
                   Spec("nomic-bert", "NomicBert", tiny_tokenizers.save_bert, 2, 8, tokenizer_settings=LIMIT)),
    "qwen3": ("Qwen3Model",
              Spec("qwen3", "Qwen3", tiny_tokenizers.save_modernbert, 2, 5, tokenizer_settings=LIMIT,
                   config={"head_dim": 8, "num_key_value_heads": 2})),
}  # fmt: skip


@dataclass(frozen=True)
class Adapter:
    """model_class: class of transformers, `Model` for hidden states, which are averaged. labels: names in config.json;
    None: no config.json."""

    name: str
    base: str
    model_class: str
    seed: int
    num_labels: int = 0
    labels: list[str] | None = None
    lora: dict = field(default_factory=dict)


ADAPTERS = [
    Adapter("bert-query-value", "bert", "BertForSequenceClassification", 11, 3,
            lora={"task_type": "SEQ_CLS", "target_modules": ["query", "value"], "r": 4, "lora_alpha": 12}),
    Adapter("bert-all-linear", "bert", "BertForSequenceClassification", 12, 2, ["spam", "ham"],
            lora={"task_type": "SEQ_CLS", "target_modules": "all-linear", "r": 8, "lora_alpha": 4, "use_rslora": True,
                  "rank_pattern": {"layer.1.attention.self.query": 2, "^bert.encoder.layer.0.output.dense": 5},
                  "alpha_pattern": {"intermediate.dense": 7, "encoder.layer.1.attention.self.query": 9}}),
    Adapter("bert-one-label", "bert", "BertForSequenceClassification", 13, 1,
            lora={"task_type": "SEQ_CLS", "target_modules": ["key", "dense"], "r": 1, "lora_alpha": 3}),
    Adapter("bert-embedder", "bert", "BertModel", 14,
            lora={"task_type": "FEATURE_EXTRACTION", "r": 3, "lora_alpha": 6, "bias": "all",
                  "target_modules": ["word_embeddings", "key", "value", "output.dense"]}),
    Adapter("bert-no-task-type", "bert", "BertModel", 15,
            lora={"target_modules": r".*\.(query|key)", "layers_to_transform": None, "r": 2}),
    Adapter("roberta-tokens", "roberta", "RobertaForTokenClassification", 16, 5,
            lora={"task_type": "TOKEN_CLS", "target_modules": ["query", "key", "value"], "r": 4,
                  "layers_to_transform": [1]}),
    Adapter("roberta-classifier", "roberta", "RobertaForSequenceClassification", 17, 2,
            lora={"task_type": "SEQ_CLS", "target_modules": "all-linear", "r": 4, "init_lora_weights": "gaussian"}),
    Adapter("roberta-splade", "roberta", "RobertaForMaskedLM", 921,
            lora={"target_modules": ["query", "dense"], "r": 3, "lora_alpha": 4}),
    Adapter("modernbert-classifier", "modernbert", "ModernBertForSequenceClassification", 18, 3,
            lora={"task_type": "SEQ_CLS", "target_modules": ["Wqkv", "Wi", "Wo"], "r": 6, "lora_alpha": 9}),
    Adapter("deberta-v2-classifier", "deberta-v2", "DebertaV2ForSequenceClassification", 19, 2,
            lora={"task_type": "SEQ_CLS", "target_modules": ["query_proj", "key_proj", "value_proj"], "r": 4,
                  "modules_to_save": ["pooler", "classifier"]}),
    Adapter("jina-embeddings-v3-task", "jina-embeddings-v3", "JinaEmbeddingsV3Model", 22,
            lora={"task_type": "FEATURE_EXTRACTION", "r": 4, "lora_alpha": 1,
                  "target_modules": r".*(_proj|fc[12]|word_embeddings|token_type_embeddings|dense)"}),
    Adapter("gte-embedder", "gte", "GteModel", 23,
            lora={"task_type": "FEATURE_EXTRACTION", "r": 4, "target_modules": ["k_proj", "o_proj", "up_proj"]}),
    Adapter("nomic-bert-embedder", "nomic-bert", "NomicBertModel", 424,
            lora={"task_type": "FEATURE_EXTRACTION", "r": 4, "target_modules": "all-linear"}),
    Adapter("qwen3-embedder", "qwen3", "Qwen3Model", 20,
            lora={"task_type": "FEATURE_EXTRACTION", "target_modules": "all-linear", "r": 4}),
]  # fmt: skip


def make(directory: Path) -> None:
    for name, (model_class, spec) in BASES.items():
        make_base(directory / name, model_class, spec)
    for adapter in ADAPTERS:
        make_adapter(directory, adapter)


def make_base(directory: Path, model_class: str, spec: Spec) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    size = spec.tokenizer(directory, tiny_models.VOCABULARY_SIZE, **spec.tokenizer_settings)
    config = tiny_models.configuration(spec, size)
    config.id2label = None
    model = getattr(transformers, model_class)(config).eval()
    tiny_models.randomize(model, spec.seed)
    model.to(torch.float16).save_pretrained(directory)
    tiny_models.edit_config(directory / "config.json", {"id2label": None, "label2id": None, "problem_type": None})
    tiny_models.compact(directory / "tokenizer.json")


def load(directory: Path, adapter: Adapter) -> transformers.PreTrainedModel:
    labels = {"num_labels": adapter.num_labels} if adapter.num_labels else {}
    model_class = getattr(transformers, adapter.model_class)
    return model_class.from_pretrained(directory / adapter.base, dtype=torch.float32, **labels).eval()


def make_adapter(directory: Path, adapter: Adapter) -> None:
    folder = directory / adapter.name
    shutil.rmtree(folder, ignore_errors=True)
    model = get_peft_model(load(directory, adapter), LoraConfig(**adapter.lora))
    randomize(model, adapter.seed)
    model.save_pretrained(folder)
    (folder / "README.md").unlink()
    settings = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
    settings["base_model_name_or_path"] = f"example/{adapter.base}"
    for key, value in settings.items():  # sets, in the order of a hash
        settings[key] = sorted(value) if isinstance(value, list) else value
    write_settings(folder / "adapter_config.json", settings)
    if adapter.labels is not None:
        config = {"id2label": {str(index): label for index, label in enumerate(adapter.labels)}}
        write_settings(folder / "config.json", config)
    # The loaded adapter, not the trained one: only what the files say counts.
    trained = PeftModel.from_pretrained(load(directory, adapter), folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(directory / adapter.base)
    texts = json.loads((FIXTURES / "texts.json").read_text(encoding="utf-8"))["texts"]
    rows = [{"text": number, "values": run(trained, tokenizer, texts[number])} for number in TEXTS]
    require_effect(adapter, trained, tokenizer, texts[TEXTS[2]])
    require_precision(adapter, trained.double(), tokenizer, [(texts[row["text"]], row["values"]) for row in rows])
    write_json(folder / "golden.json", {"versions": {**versions(), "peft": peft.__version__}}, "rows", rows)
    print(f"{adapter.name}: {len(rows)} texts")


def write_settings(path: Path, content: dict) -> None:
    path.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def randomize(model: PeftModel, seed: int) -> None:
    """Wide random numbers in all that is trained: lora_B is 0 after initialization."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            if not parameter.requires_grad:
                continue
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.copy_((0.3 if "lora_" in name else 0.22) * noise)


def run(model: PeftModel, tokenizer, text: str) -> list[float]:
    """Logits, weights of the vocabulary (SPLADE), or the mean of the last hidden states."""
    encoded = tokenizer(text, return_tensors="pt", truncation=True)
    with torch.inference_mode():
        output = model(**encoded)
    if "logits" in output and output.logits.size(-1) == model.config.vocab_size:
        return floats(output.logits.max(1).values.relu().log1p())
    if "logits" in output:
        return floats(output.logits)
    return floats(output.last_hidden_state.mean(1))


def require_effect(adapter: Adapter, trained: PeftModel, tokenizer, text: str) -> None:
    """Without the LoRA factors the numbers differ far more than the tolerance of the test."""
    with_factors = torch.tensor(run(trained, tokenizer, text))
    with trained.disable_adapter():
        without = torch.tensor(run(trained, tokenizer, text))
    difference = (with_factors - without).abs().max().item()
    assert difference > 0.01, f"{adapter.name}: {difference}"


def require_precision(adapter: Adapter, exact: PeftModel, tokenizer, rows: list[tuple[str, list[float]]]) -> None:
    """exact: the model in float64."""
    for text, values in rows:
        error = (torch.tensor(values) - torch.tensor(run(exact, tokenizer, text))).abs().max().item()
        assert error < FLOAT32_ERROR, f"{adapter.name}: {text!r}: {error}"
