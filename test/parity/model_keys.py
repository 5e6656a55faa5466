"""Which keys of a model's files transformers, sentence-transformers and peft read, from their source code.

    python test/parity/model_keys.py PACKAGES < tables.json

PACKAGES: a folder that holds the packages, which are not imported. tables.json: the keys that the project knows, by
file ({"config.json: bert": ["vocab_size", …]}), as test/golden/model-keys-complete.test.ts writes them. Prints, by file,
the keys that only the packages know, and the files that only one side knows.
"""

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path

MODELS = {
    "albert": "albert", "bert": "bert", "camembert": "camembert", "data2vec-text": "data2vec",
    "deberta-v2": "deberta_v2", "distilbert": "distilbert", "electra": "electra", "ernie": "ernie",
    "modernbert": "modernbert", "mpnet": "mpnet", "roberta": "roberta", "xlm-roberta": "xlm_roberta",
    "eurobert": "eurobert", "gemma": "gemma", "gemma3_text": "gemma3", "gte": "gte", "nomic_bert": "nomic_bert",
    "jina_embeddings_v3": "jina_embeddings_v3", "lfm2": "lfm2", "openai_privacy_filter": "openai_privacy_filter",
    "qwen2": "qwen2", "qwen3": "qwen3",
}  # fmt: skip
TOKENIZERS = ["albert", "bert", "camembert", "deberta_v2", "distilbert", "mpnet", "roberta", "xlm_roberta"]

# Names that are read of such objects and are no keys of a file: methods, what loading sets, and local names.
CONFIG_METHODS = {"get_text_config", "to_dict", "sub_configs", "model_type", "num_labels", "pruned_heads"}
OF_LOADING = {
    "name_or_path", "is_local", "local_files_only", "files_loaded", "tokenizer_file", "vocab_file", "merges_file",
    "tokenizer_object", "gguf_file", "post_processor", "tokenizer_padding", "tokenizer_truncation", "tokenizer",
    "_json_padding", "_json_truncation", "_spm_precompiled_charsmap", "_commit_hash", "trust_remote_code", "kwargs",
}  # fmt: skip
MODULES = {
    "Pooling": ("sentence_transformer/modules/pooling.py", {}),
    "Dense": ("base/modules/dense.py", {}),
    "LayerNorm": ("sentence_transformer/modules/layer_norm.py", {}),
    "Normalize": ("base/modules/normalize.py", {}),
    "Dropout": ("sentence_transformer/modules/dropout.py", {}),
    "MultiVectorMask": ("multi_vector_encoder/modules/multi_vector_mask.py", {}),
    "LogitScore": ("cross_encoder/modules/logit_score.py", {}),
    "SpladePooling": ("sparse_encoder/modules/splade_pooling.py", {}),
}


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def class_of(tree: ast.Module, name: str) -> ast.ClassDef:
    return next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)


def function_of(node: ast.AST, name: str) -> ast.FunctionDef:
    return next(one for one in ast.walk(node) if isinstance(one, ast.FunctionDef) and one.name == name)


def text(node: ast.AST | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def arguments(function: ast.FunctionDef) -> set[str]:
    given = function.args
    names = {one.arg for one in [*given.posonlyargs, *given.args, *given.kwonlyargs]}
    return names - {"self", "cls", "model_name_or_path"}


def is_named(node: ast.AST, names: set[str]) -> bool:
    """`config`, or `self.config`."""
    if isinstance(node, ast.Attribute):
        return node.attr in names and isinstance(node.value, ast.Name) and node.value.id == "self"
    return isinstance(node, ast.Name) and node.id in names


def looked_up(tree: ast.AST, names: set[str]) -> Iterator[str]:
    """Of x: x.get("key"), x.pop("key"), x["key"], "key" in x."""
    for node in ast.walk(tree):
        found = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            if node.func.attr in ("get", "pop", "setdefault") and is_named(node.func.value, names):
                found = text(node.args[0])
        elif isinstance(node, ast.Subscript) and is_named(node.value, names):
            found = text(node.slice)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            if is_named(node.comparators[0], names):
                found = text(node.left)
        if found is not None:
            yield found


def attributes(tree: ast.AST, names: set[str]) -> Iterator[str]:
    """Of x: x.key, getattr(x, "key"), hasattr(x, "key")."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_named(node.value, names):
            yield node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
            if node.func.id in ("getattr", "hasattr") and is_named(node.args[0], names):
                found = text(node.args[1])
                if found is not None:
                    yield found


def fields(config: ast.ClassDef) -> Iterator[str]:
    """Those of the class, names that stand for others, what has a setter, and what its methods look for."""
    for node in config.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if "ClassVar" not in ast.unparse(node.annotation):
                yield node.target.id
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "attribute_map":
            yield from ast.literal_eval(node.value)
        if isinstance(node, ast.FunctionDef):
            yield from (one.value.id for one in node.decorator_list if ast.unparse(one).endswith(".setter"))
            yield from looked_up(node, {"kwargs"})


def config_keys(transformers: Path, folder: str, model_type: str) -> set[str]:
    base = class_of(parse(transformers / "configuration_utils.py"), "PreTrainedConfig")
    keys = {key for node in base.body if not isinstance(node, ast.FunctionDef) for key in fields_of(node)}
    keys |= set(looked_up(function_of(base, "__post_init__"), {"kwargs"}))
    keys |= {one for one in fields(base) if one in setters(base)}
    suffix = "_text" if model_type == "data2vec-text" else ""
    place = transformers / "models" / folder
    tree = parse(place / f"configuration_{folder}{suffix}.py")
    own = next(node for node in tree.body if isinstance(node, ast.ClassDef) and has_type(node, model_type))
    keys |= set(fields(own))
    keys |= set(attributes(parse(place / f"modeling_{folder}{suffix}.py"), {"config"}))
    pipelines = ["base", "text_classification", "token_classification", "zero_shot_classification"]
    for name in pipelines:
        tree = parse(transformers / "pipelines" / f"{name}.py")
        keys |= set(pipeline_attributes(tree))
    return keys - CONFIG_METHODS - {"_attn_implementation_internal", "_experts_implementation_internal"}


def fields_of(node: ast.AST) -> Iterator[str]:
    return fields(ast.ClassDef(name="", bases=[], keywords=[], body=[node], decorator_list=[]))


def setters(config: ast.ClassDef) -> set[str]:
    methods = [node for node in config.body if isinstance(node, ast.FunctionDef)]
    return {one.value.id for node in methods for one in node.decorator_list if ast.unparse(one).endswith(".setter")}


def has_type(node: ast.ClassDef, model_type: str) -> bool:
    return any(ast.unparse(one) == f"model_type = {model_type!r}" for one in node.body)


def pipeline_attributes(tree: ast.AST) -> Iterator[str]:
    """Of self.model.config."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self.model.config":
            yield node.attr


def tokenizer_keys(transformers: Path) -> set[str]:
    base = class_of(parse(transformers / "tokenization_utils_base.py"), "PreTrainedTokenizerBase")
    backend = class_of(parse(transformers / "tokenization_utils_tokenizers.py"), "TokenizersBackend")
    keys = {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"}
    keys |= set(looked_up(function_of(base, "__init__"), {"kwargs"}))
    keys |= set(looked_up(function_of(base, "_from_pretrained"), {"init_kwargs"}))
    keys |= set(looked_up(function_of(backend, "__init__"), {"kwargs"}))
    keys |= set(looked_up(parse(transformers / "models/auto/tokenization_auto.py"), {"tokenizer_config"}))
    for name in TOKENIZERS:
        tree = parse(transformers / "models" / name / f"tokenization_{name}.py")
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                keys |= arguments(function_of(node, "__init__")) - {"args"}
    return keys - OF_LOADING


def transformer_keys(sentences: Path) -> set[str]:
    tree = class_of(parse(sentences / "base/modules/transformer.py"), "Transformer")
    decorator = function_of(parse(sentences / "util/decorators.py"), "transformer_kwargs_decorator")
    older = {text(node) for node in ast.walk(decorator)} & {"model_args", "tokenizer_args", "config_args", "cache_dir"}
    return arguments(function_of(tree, "__init__")) | older


def module_keys(sentences: Path, name: str, place: str) -> set[str]:
    tree = parse(sentences / place)
    module = class_of(tree, name)
    keys = arguments(function_of(module, "__init__"))
    for node in [*tree.body, *module.body]:
        is_renames = any(one in ast.unparse(node)[:60] for one in ("config_key_renames", "_LEGACY_POOLING_MODE_KWARGS"))
        if is_renames and isinstance(node, (ast.Assign, ast.AnnAssign)):
            keys |= set(ast.literal_eval(node.value))
    return keys


def settings_keys(sentences: Path) -> set[str]:
    keys = {"query_prefix", "document_prefix"}  # a loop's
    for family in ["base", "sentence_transformer", "cross_encoder", "sparse_encoder", "multi_vector_encoder"]:
        tree = parse(sentences / family / "model.py")
        keys |= set(looked_up(tree, {"model_config"}))
        for node in ast.walk(tree):
            if isinstance(node, ast.AnnAssign) and "_PYLATE_TRANSFORMER_KEYS" in ast.unparse(node.target):
                keys |= set(ast.literal_eval(node.value))
    return keys


def adapter_keys(peft: Path) -> set[str]:
    tree = parse(peft / "config.py")
    keys = set(fields(class_of(parse(peft / "tuners/lora/config.py"), "LoraConfig")))
    keys |= {key for name in ("PeftConfigMixin", "PeftConfig") for key in fields(class_of(tree, name))}
    return keys - {"auto_mapping_dict"}  # an argument of a method


def keys_of(packages: Path) -> dict[str, set[str]]:
    transformers, sentences = packages / "transformers", packages / "sentence_transformers"
    multi_vector = parse(sentences / "multi_vector_encoder/model.py")
    return {
        **{f"config.json: {name}": config_keys(transformers, folder, name) for name, folder in MODELS.items()},
        "tokenizer_config.json": tokenizer_keys(transformers),
        "sentence_bert_config.json": transformer_keys(sentences),
        "sentence_bert_config.json: text-generation": transformer_keys(sentences),
        **{f"config.json: {name}": module_keys(sentences, name, place) for name, (place, _) in MODULES.items()},
        "config_sentence_transformers.json": settings_keys(sentences),
        "modules.json": {"idx", *looked_up(parse(sentences / "base/model.py"), {"module_config"})},
        "adapter_config.json": adapter_keys(packages / "peft"),
        "artifact.metadata": set(looked_up(multi_vector, {"metadata"})),
    }


def main() -> None:
    known = {file: set(keys) for file, keys in json.load(sys.stdin).items()}
    read = keys_of(Path(sys.argv[1]))
    problems = {file: sorted(keys - known.get(file, set())) for file, keys in read.items()}
    unknown = sorted(set(known) - set(read))
    print(json.dumps({"missing": {file: keys for file, keys in problems.items() if keys}, "unread": unknown}))


if __name__ == "__main__":
    main()
