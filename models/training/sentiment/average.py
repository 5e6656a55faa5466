"""Average the weights of saved classifiers, parameter by parameter, in float32.

    python average.py --output OUT MODEL MODEL ...
    python average.py --output OUT --shares 1.5 0.8 ... --scale 1.6 -- MODEL MODEL ...

Averages are less sure of themselves than their parts; `--scale` makes up for it.
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
    parser.add_argument("--shares", type=float, nargs="+", help="one a model; default: equal")
    parser.add_argument("--scale", type=float, default=1.0, help="factor of the logits")
    parser.add_argument("models", type=Path, nargs="+", help="saved model directories")
    args = parser.parse_args()
    shares = args.shares or [1.0] * len(args.models)
    models = [load(folder) for folder in args.models]
    total = sum(shares)
    for parameters in zip(*(model.parameters() for model in models), strict=True):
        weighted = [share * each for share, each in zip(shares, parameters, strict=True)]
        parameters[0].copy_(torch.stack(weighted).sum(0) / total)
    for parameter in models[0].classifier.parameters():
        parameter.mul_(args.scale)
    save(models[0], args.models[0], args.output)


if __name__ == "__main__":
    main()
