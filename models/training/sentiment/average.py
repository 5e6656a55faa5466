"""Average the weights of saved classifiers, parameter by parameter, in float32.

    python average.py --output OUT MODEL MODEL ...
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from network import load, save


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True, help="model directory to write")
    parser.add_argument("models", type=Path, nargs="+", help="saved model directories")
    args = parser.parse_args()
    models = [load(folder) for folder in args.models]
    for parameters in zip(*(model.parameters() for model in models), strict=True):
        parameters[0].copy_(torch.stack(parameters).mean(0))
    save(models[0], args.models[0], args.output)


if __name__ == "__main__":
    main()
