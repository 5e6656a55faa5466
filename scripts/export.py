#!/usr/bin/env python3
"""Exports a model with torch.export, as libtorch-serve takes it.

    pip install torch transformers sentence-transformers
    python scripts/export.py path/to/classifier --output served-model
    python scripts/export.py path/to/tagger --task token-classification --output served-model
    python scripts/export.py path/to/cross-encoder --task reranking --output served-model
    python scripts/export.py path/to/embedder --task embedding --output served-model
    python scripts/export.py my_models.py:build --window 1,256 --output eeg_model.pt2
    python scripts/export.py my_package.models:build --window 22,1000 --output eeg_model.pt2
    python scripts/export.py --braindecode EEGNet --channels C3,Cz,C4 --samples 256 --outputs 4 --rate 128

The first form takes the directory of a Hugging Face sequence classifier (save_pretrained) and writes a
directory with model.pt2, config.json and the tokenizer; the second does so of a token classifier, and the third of
a cross-encoder, with what sentence-transformers says of it. The fourth takes a directory of sentence-transformers,
or that of an encoder alone, and exports all that makes a vector of a text. The next two call a function without
arguments that returns an nn.Module with its weights loaded, and write one file; --window is the shape of one
window, without the batch. The last takes a model of braindecode by name and writes eeg_model.pt2 and its settings,
eeg_model.json; --weights is a folder that its save_pretrained wrote, and without it the weights are random.

The number of rows, and of tokens, is left open as far as the model lets it: what cannot be left open is said.
What was written is read back and compared with the model itself, alone and in a batch, before this ends with 0.
See docs/guides/export.md.
"""

import argparse
import importlib
import inspect
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from export_rewrites import classify_from_last_end, rewritten
from torch import Tensor, nn

Shapes = list[dict[int, object]] | None
Inputs = tuple[Tensor, ...]

MOST_ROWS = 1024
# Tokens where neither the tokenizer nor config.json names a limit; --length says another.
DEFAULT_LENGTH = 512
LONGEST_TRIED = 512
# Some models look at the last tokens one by one: they begin to be the same program at some length.
LEAST_LENGTHS = (1, 2, 3, 4)
# Relative to the largest number of the answers, of float32 sums in another order.
TOLERANCE = 1e-4


class ExportError(Exception):
    """What a person can do something about."""


class TextClassifier(nn.Module):
    """input_ids, attention_mask and token_type_ids, int64 [batch, length], to logits [batch, labels], or of a
    token classifier [batch, length, labels]."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None
    ) -> Tensor:
        if self.model.config.is_encoder_decoder:
            return classify_from_last_end(self.model, input_ids, attention_mask)
        types = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
        return self.model(input_ids=input_ids, attention_mask=attention_mask, **types).logits


def load_text_model(
    directory: Path, length: int | None, task: str = "text-classification"
) -> tuple[TextClassifier, object, int]:
    """The classifier in float32, its tokenizer, and how many tokens it takes at most."""
    from transformers import AutoModelForSequenceClassification, AutoModelForTokenClassification, AutoTokenizer

    of_tokens = task == "token-classification"
    load = AutoModelForTokenClassification if of_tokens else AutoModelForSequenceClassification
    tokenizer = AutoTokenizer.from_pretrained(directory)
    model = load.from_pretrained(directory, dtype=torch.float32).eval()
    config = model.config
    config.use_cache = False
    if config.pad_token_id is None:
        # Decoders answer from the last token that is no padding: without it they take one text at a time.
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        config.pad_token_id = tokenizer.pad_token_id
    if config.pad_token_id is None:
        raise ExportError("config.json: pad_token_id: expected the token that fills short texts")
    limit = limit_of(model, tokenizer, length)
    tokenizer.model_max_length = limit
    return TextClassifier(model), tokenizer, limit


def limit_of(model: nn.Module, tokenizer: object, length: int | None) -> int:
    """Tokens of the longest text, special ones included."""
    config = model.config
    positions = getattr(config, "max_position_embeddings", None) or 0
    if positions <= 0:  # none, or relative ones
        positions = tokenizer.model_max_length
    if "position_ids" in inspect.signature(model.forward).parameters and has_offset(model):
        positions -= config.pad_token_id + 1
    limit = min(positions, tokenizer.model_max_length)
    if limit > 1_000_000:
        limit = DEFAULT_LENGTH
    if length is not None:
        if length > limit and positions <= 1_000_000:
            raise ExportError(f"--length: the model takes at most {limit} tokens")
        limit = length
    return limit


def has_offset(model: nn.Module) -> bool:
    """Whether positions count from the padding token's number, as RoBERTa's do."""
    tables = [part for name, part in model.named_modules() if name.endswith(".position_embeddings")]
    return any(getattr(table, "padding_idx", None) is not None for table in tables)


def text_inputs(model: nn.Module, tokenizer: object, lengths: list[int]) -> Inputs:
    """Rows of ordinary tokens, padded on the right. `model`: its `model` is one of transformers."""
    padding = model.model.config.pad_token_id
    padding = tokenizer.pad_token_id if padding is None else padding
    special = set(tokenizer.all_special_ids) | {padding}
    known = min(len(tokenizer), model.model.config.vocab_size)
    words = torch.tensor([token for token in range(known) if token not in special])
    generator = torch.Generator().manual_seed(0)
    ids = torch.full((len(lengths), max(lengths)), padding)
    mask = torch.zeros_like(ids)
    for row, length in enumerate(lengths):
        ids[row, :length] = words[torch.randint(len(words), (length,), generator=generator)]
        ids[row, length - 1] = tokenizer.eos_token_id or tokenizer.sep_token_id or ids[row, length - 1]
        mask[row, :length] = 1
    takes_types = "token_type_ids" in inspect.signature(model.model.forward).parameters
    if takes_types and "token_type_ids" in tokenizer.model_input_names:
        return ids, mask, torch.zeros_like(ids)
    return ids, mask


def text_shapes(inputs: Inputs, limit: int, static: bool) -> Iterator[tuple[str, Shapes]]:
    """From the most open to the least: what it means for the server, and the dimensions."""
    for rows in () if static else (MOST_ROWS,):
        for least in LEAST_LENGTHS:
            open_rows = torch.export.Dim("batch", min=1, max=rows)
            tokens = torch.export.Dim("length", min=least, max=limit)
            yield f"any number of texts, of {least} to {limit} tokens", [
                {0: open_rows, 1: tokens} for _ in inputs
            ]
    for least in LEAST_LENGTHS:
        tokens = torch.export.Dim("length", min=least, max=limit)
        yield f"one text at a time, of {least} to {limit} tokens", [{1: tokens} for _ in inputs]


def window_shapes(static: bool) -> Iterator[tuple[str, Shapes]]:
    if not static:
        rows = torch.export.Dim("batch", min=1, max=MOST_ROWS)
        yield "any number of windows", [{0: rows}]
    yield "one window at a time", None


def export(
    module: nn.Module, inputs: Inputs, shapes: Iterator[tuple[str, Shapes]]
) -> tuple[torch.export.ExportedProgram, str]:
    """The first of `shapes` that torch.export takes, and what it means. Says why those before were not."""
    reasons = []
    for meaning, dimensions in shapes:
        rows = inputs if dimensions and 0 in dimensions[0] else tuple(tensor[:1] for tensor in inputs)
        arguments = tuple(dimensions) if dimensions else None
        try:
            with torch.no_grad(), rewritten(module):
                program = torch.export.export(module, rows, dynamic_shapes=arguments)
        except Exception as error:  # of many classes, from every layer of the tracer
            reason = " ".join(str(error).split())
            reasons.append(f"  {meaning}: {reason[:600]}")
            continue
        if reasons:
            print(f"Exported for {meaning}. What was tried before, and why it cannot be:")
            print("\n".join(reasons))
        return program, meaning
    raise ExportError(
        "torch.export takes this model in no form:\n" + "\n".join(reasons) + "\nThe usual causes: an `if` "
        "on the values of a tensor (use torch.where or torch.cond), .item(), a loop over rows, a size written "
        "down as a number. https://docs.pytorch.org/docs/stable/export.html shows how each is rewritten."
    )


def write(
    program: torch.export.ExportedProgram,
    path: Path,
    module: nn.Module,
    batches: list[Inputs],
    names: list[str] | None = None,
) -> float:
    """Reads back what it wrote, which stays only if it answers as the module does. names: of inputs by keyword."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.export.save(program, path)
    try:
        return check(ByName(torch.export.load(path).module(), names or []), module, batches)
    except BaseException:
        path.unlink()
        raise


def check(written: Callable[..., object], module: nn.Module, batches: list[Inputs]) -> float:
    """The largest difference to the module itself, relative to its largest answer."""
    worst = 0.0
    for inputs in batches:
        with torch.no_grad():
            expected, answer = single(module(*inputs)), single(written(*inputs))
        scale = max(1.0, expected.abs().max().item())
        worst = max(worst, (expected - answer).abs().max().item() / scale)
    if not worst <= TOLERANCE:
        raise ExportError(f"What was exported answers otherwise than the model: {worst:.1e} of the largest logit")
    return worst


def single(output: object) -> Tensor:
    if isinstance(output, Tensor):
        return output
    values = list(output.values()) if isinstance(output, dict) else list(output)
    if len(values) != 1:
        raise ExportError(f"The model returns {len(values)} values, expected one tensor of scores")
    return single(values[0])


def warn_of_company(module: nn.Module, inputs: Inputs, lengths: list[int]) -> None:
    """Models that mix padding into their answers are served, but never padded."""
    for row, length in enumerate(lengths):
        alone = tuple(tensor[row : row + 1, :length] for tensor in inputs)
        with torch.no_grad():
            own, beside = module(*alone)[0], module(*inputs)[row]
        if own.dim() > 1:  # of each token, of which some are padding
            beside = beside[:length]
        difference = (own - beside).abs().max().item()
        if difference > TOLERANCE:
            print("This model answers otherwise in a padded batch than alone: texts of different lengths will "
                  "not share a run.")
            return


def export_text(arguments: argparse.Namespace) -> str:
    if arguments.task in ("embedding", "reranking"):
        model = open_sentence_model(Path(arguments.model), arguments.task)
        limit = model.limited_to(limit_of(model.encoder, model.tokenizer, arguments.length))
        return export_texts(arguments, (model.module, model.tokenizer, limit), model.save)
    module, tokenizer, limit = load_text_model(Path(arguments.model), arguments.length, arguments.task)

    def save(output: Path) -> None:
        tokenizer.save_pretrained(output)
        module.model.config.save_pretrained(output)

    return export_texts(arguments, (module, tokenizer, limit), save)


def open_sentence_model(directory: Path, task: str):
    """A directory of sentence-transformers: an Embedder or a Reranker."""
    from export_embedding import Embedder
    from export_reranking import Reranker

    model = Embedder(directory) if task == "embedding" else Reranker(directory, TextClassifier)
    if model.problem is not None:
        raise ExportError(model.problem)
    if not (difference := model.difference()) <= TOLERANCE:
        raise ExportError(f"{model.REFERENCE} answers otherwise than what would be exported: {difference:.1e}")
    return model


def export_texts(
    arguments: argparse.Namespace, model: tuple[nn.Module, object, int], save: Callable[[Path], None]
) -> str:
    """`save`: writes what a directory has beside the program."""
    module, tokenizer, limit = model
    lengths = [min(11, limit), min(7, limit)]
    inputs = text_inputs(module, tokenizer, lengths)
    program, meaning = export(module, inputs, text_shapes(inputs, limit, arguments.static))
    longest = min(limit, LONGEST_TRIED)
    rows = [[min(5, limit)], [longest // 2 + 1], [longest]]
    if "any number" in meaning:
        rows += [lengths, [longest, min(5, limit), longest // 2 + 1]]
    batches = [text_inputs(module, tokenizer, row) for row in rows]
    output = Path(arguments.output or "exported-model")
    error = write(finished(program, arguments), output / "model.pt2", module, batches)
    save(output)
    warn_of_company(module, inputs, lengths)
    return f"{output}: {meaning}; largest difference to the model {error:.1e}"


def export_signal(arguments: argparse.Namespace) -> str:
    try:
        shape = [int(size) for size in (arguments.window or "").split(",")]
    except ValueError:
        raise ExportError("--window: expected the shape of one window, as in --window 1,256") from None
    module = build(arguments.model).eval()
    windows = torch.randn([5, *shape], generator=torch.Generator().manual_seed(0))
    program, meaning = export(module, (windows[:2],), window_shapes(arguments.static))
    batches = [windows[:1], windows[1:2]] + ([windows] if "any number" in meaning else [])
    output = Path(arguments.output or "eeg_model.pt2")
    error = write(finished(program, arguments), output, module, [(batch,) for batch in batches])
    return f"{output}: {meaning} of shape {shape}; largest difference to the model {error:.1e}"


def export_braindecode(arguments: argparse.Namespace) -> str:
    """Writes a model of braindecode and its settings file."""
    from export_braindecode import Described, ExportFailure, export_program, models, write_settings

    known = models()
    if arguments.braindecode not in known:
        raise ExportError(f"--braindecode: {arguments.braindecode}: expected one of {', '.join(sorted(known))}")
    given = Described(arguments.braindecode, *signal_of(arguments))
    try:
        module, constants = given.build()
    except (OSError, TypeError, ValueError, RuntimeError) as error:
        raise ExportError(f"{given.name}: {error}") from error
    windows = torch.randn(5, len(given.channels), given.samples, generator=torch.Generator().manual_seed(0))
    try:
        program, is_open = export_program(module, windows[:2], constants)
    except ExportFailure as error:
        raise ExportError(f"{given.name}: torch.export does not take it: {error}") from error

    def inputs(rows: Tensor) -> Inputs:
        return rows, *(value.expand(len(rows), *value.shape) for value in constants.values())

    names = list(constants)
    batches = [inputs(windows[:1]), inputs(windows[1:2])] + ([inputs(windows)] if is_open else [])
    output = Path(arguments.output or "eeg_model.pt2")
    by_name = ByName(module, names)
    error = write(finished(program, arguments), output, by_name, batches, names)
    write_settings(output, given, constants)
    meaning = "any number of windows" if is_open else "one window at a time"
    shape = [len(given.channels), given.samples]
    return f"{output}: {meaning} of shape {shape}; largest difference to the model {error:.1e}"


def signal_of(arguments: argparse.Namespace) -> tuple[tuple[str, ...], int, int, float, Path | None]:
    """Channels, samples, outputs, rate and weights of the options; the folder of the weights may set them."""
    weights = Path(arguments.weights) if arguments.weights else None
    config: dict = {}
    if weights is not None:
        if not (weights / "config.json").is_file():
            raise ExportError(f"--weights: {weights}: expected a folder with config.json and model.safetensors")
        config = json.loads((weights / "config.json").read_text())
    channels = (arguments.channels or "").split(",") if arguments.channels else []
    channels = channels or [one["ch_name"] for one in config.get("chs_info") or []]
    samples = arguments.samples or config.get("n_times")
    outputs = arguments.outputs or config.get("n_outputs")
    rate = arguments.rate or config.get("sfreq")
    missing = [
        option
        for option, value in [
            ("--channels", channels), ("--samples", samples), ("--outputs", outputs), ("--rate", rate),
        ]
        if not value
    ]
    if missing:
        raise ExportError(f"{', '.join(missing)}: expected beside --braindecode")
    for option, key, value in [
        ("--channels", "n_chans", len(channels)), ("--samples", "n_times", samples), ("--outputs", "n_outputs", outputs),
    ]:
        if config.get(key) not in (None, value):
            raise ExportError(f"{option}: {value}, but config.json of the weights has {key} {config[key]}")
    return tuple(channels), int(samples), int(outputs), float(rate), weights


class ByName(nn.Module):
    """A model whose further inputs have names."""

    def __init__(self, model: Callable[..., object], names: list[str]) -> None:
        super().__init__()
        self.model = model
        self.names = names

    def forward(self, windows: Tensor, *others: Tensor) -> object:
        return self.model(windows, **dict(zip(self.names, others)))


def finished(program: torch.export.ExportedProgram, arguments: argparse.Namespace) -> torch.export.ExportedProgram:
    return program.run_decompositions() if arguments.decompose else program


def build(name: str) -> nn.Module:
    """What FILE.py:FUNCTION or PACKAGE.MODULE:FUNCTION returns."""
    place, _, function = name.rpartition(":")
    if not place:
        raise ExportError(f"{name}: expected a directory, FILE.py:FUNCTION or MODULE:FUNCTION")
    if place.endswith(".py"):
        sys.path.insert(0, str(Path(place).resolve().parent))
        place = Path(place).stem
    sys.path.insert(0, ".")
    make = getattr(importlib.import_module(place), function, None)
    if make is None:
        raise ExportError(f"{name}: {place} has no {function}")
    module = make()
    if not isinstance(module, nn.Module):
        raise ExportError(f"{name} returned a {type(module).__name__}, expected an nn.Module")
    return module


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", nargs="?", help="a directory, FILE.py:FUNCTION or MODULE:FUNCTION")
    parser.add_argument("--braindecode", metavar="MODEL", help="a model of braindecode by name, such as EEGNet")
    parser.add_argument("--channels", help="names of its channels: C3,Cz,C4")
    parser.add_argument("--samples", type=int, help="samples of a window")
    parser.add_argument("--outputs", type=int, help="number of classes")
    parser.add_argument("--rate", type=float, help="sampling rate in Hz")
    parser.add_argument("--weights", help="folder with config.json and model.safetensors")
    parser.add_argument(
        "--task",
        choices=["text-classification", "token-classification", "reranking", "embedding"],
        default="text-classification",
        help="of a directory",
    )
    parser.add_argument("--output", help="directory (text) or file (signal) to write")
    parser.add_argument("--window", help="shape of one window of a signal model: 1,256")
    parser.add_argument("--length", type=int, help="tokens of the longest text, if not the model's own limit")
    parser.add_argument("--static", action="store_true", help="one text or window at a time, from the start")
    parser.add_argument("--decompose", action="store_true", help="rewrite into the core operators of ATen")
    arguments = parser.parse_args()
    if bool(arguments.model) == bool(arguments.braindecode):
        parser.error("expected either a model or --braindecode")
    try:
        if arguments.braindecode:
            print(export_braindecode(arguments))
            return 0
        run = export_text if Path(arguments.model).is_dir() else export_signal
        print(run(arguments))
    except ExportError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
