"""What export.py exports of a directory of sentence-transformers: all that makes a vector of a text."""

import shutil
import tempfile
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn

# Modules whose work is the same for texts of all lengths, in any batch.
MODULES = ("Pooling", "Dense", "LayerNorm", "Normalize", "Dropout")
NAMES = ("input_ids", "attention_mask", "token_type_ids")
TEXTS = ("A warm, funny film.", "It rains.", "Two hours, and not a minute too long: " * 3)
WEIGHTS = shutil.ignore_patterns("*.safetensors", "*.bin", "*.index.json", "README.md")


class TextVector(nn.Module):
    """input_ids, attention_mask and token_type_ids, int64 [batch, length], to vectors [batch, dimensions]."""

    def __init__(self, model: nn.Module, modules: list[nn.Module]) -> None:
        super().__init__()
        self.model = model
        self.behind = nn.ModuleList(modules)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None
    ) -> Tensor:
        types = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
        states = self.model(input_ids=input_ids, attention_mask=attention_mask, **types).last_hidden_state
        features = {"token_embeddings": states, "attention_mask": attention_mask}
        for module in self.behind:
            features = module(features)
        return features["sentence_embedding"]


class Embedder:
    """A directory of sentence-transformers, or that of an encoder alone, in float32."""

    REFERENCE = "SentenceTransformer.encode"

    def __init__(self, directory: Path) -> None:
        self.model = SentenceTransformer(
            str(directory), device="cpu", model_kwargs={"dtype": torch.float32}, local_files_only=True
        ).eval()
        first, *others = self.model
        self.problem = problem_of(others)
        self.encoder = first.model
        self.tokenizer = self.model.tokenizer
        self.module = TextVector(self.encoder, others).eval()

    def limited_to(self, limit: int) -> int:
        self.model.max_seq_length = min(limit, self.model.max_seq_length or limit)
        return self.model.max_seq_length

    def difference(self) -> float:
        """The largest one between what is exported and `SentenceTransformer.encode`."""
        worst = 0.0
        for text in TEXTS:
            features = self.model.preprocess([text])
            inputs = [features[name] for name in NAMES if name in features]
            with torch.no_grad():
                vector = self.module(*inputs)[0]
            expected = self.model.encode(text, prompt="", convert_to_tensor=True)
            worst = max(worst, (vector[: len(expected)] - expected).abs().max().item())
        return worst

    def save(self, output: Path) -> None:
        """All of the directory but weights, which the program has."""
        if getattr(self.encoder.config, "hidden_size", None) is None:
            self.encoder.config.hidden_size = self.model[0].get_embedding_dimension()
        save_without_weights(self.model, output)


def save_without_weights(model: nn.Module, output: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder, create_model_card=False)
        shutil.copytree(folder, output, ignore=WEIGHTS, dirs_exist_ok=True)


def problem_of(modules: list[nn.Module]) -> str | None:
    """Why what stands behind an encoder cannot be exported."""
    for module in modules:
        name = type(module).__name__
        if name not in MODULES:
            return f"modules.json: type: {name} is not supported: expected {', '.join(MODULES)}"
        if name == "Pooling" and not module.include_prompt:
            return "Pooling: include_prompt: false: a program cannot tell the tokens of a prompt from others"
    if not any(type(module).__name__ == "Pooling" for module in modules):
        return "modules.json: expected a Pooling: without one there is no vector of a text"
    return None
