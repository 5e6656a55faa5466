"""What all generators share: versions, determinism, JSON that stays readable and small."""

import json
import logging
import os
import platform
import warnings
from pathlib import Path

import numpy
import tokenizers
import torch
import transformers

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"


def set_up() -> None:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    logging.disable(logging.WARNING)
    # torch.jit is deprecated in favour of formats that LibTorch alone cannot run.
    warnings.filterwarnings("ignore", category=FutureWarning)
    transformers.logging.disable_progress_bar()


def versions() -> dict:
    return {
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "tokenizers": tokenizers.__version__,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }


def write_json(path: Path, head: dict, key: str, rows: list) -> None:
    """`head`'s entries, then `key` with one row a line. Non-ASCII is escaped: control characters
    and bidirectional text stay readable in a diff."""
    lines = [f"  {json.dumps(name)}: {json.dumps(value)},\n" for name, value in head.items()]
    body = ",\n".join("    " + json.dumps(row) for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{\n" + "".join(lines) + f"  {json.dumps(key)}: [\n{body}\n  ]\n}}\n")


def floats(tensor: torch.Tensor) -> list[float]:
    """float32 values as the doubles they widen to: JSON keeps them exactly."""
    return [float(value) for value in tensor.flatten().tolist()]
