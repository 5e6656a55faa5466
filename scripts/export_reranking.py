"""What export.py exports of a cross-encoder of sentence-transformers: the logits of a pair, before its activation."""

from collections.abc import Callable
from pathlib import Path

import torch
from export_embedding import NAMES, save_without_weights
from sentence_transformers import CrossEncoder
from torch import nn

PAIRS = (
    ("How long is the film?", "Two hours."),
    ("How long is the film?", "It runs for two hours, and not a minute is too long: " * 3),
    ("It rains.", ""),
)


class Reranker:
    """A directory of sentence-transformers, or of a sequence classifier, in float32."""

    REFERENCE = "CrossEncoder.predict"

    def __init__(self, directory: Path, wrap: Callable[[nn.Module], nn.Module]) -> None:
        self.model = CrossEncoder(
            str(directory), device="cpu", model_kwargs={"dtype": torch.float32}, local_files_only=True
        ).eval()
        others = [type(module).__name__ for module in list(self.model)[1:]]
        self.problem = f"modules.json: type: {others[0]} is not supported behind Transformer" if others else None
        self.encoder = self.model.model
        self.tokenizer = self.model.tokenizer
        self.module = wrap(self.encoder).eval()

    def limited_to(self, limit: int) -> int:
        self.model.max_length = min(limit, self.model.max_length or limit)
        return self.model.max_length

    def difference(self) -> float:
        """The largest one between what is exported and `predict` without its activation."""
        worst = 0.0
        for pair in PAIRS:
            features = self.model.preprocess([pair])
            inputs = [features[name] for name in NAMES if name in features]
            with torch.no_grad():
                logits = self.module(*inputs).flatten()
            expected = self.model.predict([pair], activation_fn=nn.Identity(), convert_to_tensor=True)
            worst = max(worst, (logits - expected.flatten()).abs().max().item())
        return worst

    def save(self, output: Path) -> None:
        """All of the directory but weights, which the program has."""
        save_without_weights(self.model, output)
