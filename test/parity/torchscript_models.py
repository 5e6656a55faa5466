"""Tiny TorchScript text classifiers: model directories that are served, and files that are refused."""

import json
from pathlib import Path

import tiny_tokenizers
import torch
import transformers
from eeg_golden import drop_debug_records
from torch import Tensor, nn

FILE = "model.pt"
SIZE = 12
VOCABULARY_SIZE = 420
POSITION_LIMIT = 40
LABELS = {"0": "NEGATIVE", "1": "POSITIVE"}


class MeanOfWords(nn.Module):
    """A classifier of no known architecture. Texts of a padded batch answer as alone."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY_SIZE, SIZE)
        self.positions = nn.Embedding(POSITION_LIMIT, SIZE)
        self.hidden = nn.Linear(SIZE, SIZE)
        self.classifier = nn.Linear(SIZE, 2)

    def logits(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        length = input_ids.size(1)
        states = self.words(input_ids) + self.positions.weight[:length]
        states = torch.tanh(self.hidden(states)) * attention_mask.unsqueeze(2)
        return self.classifier(states.sum(1) / attention_mask.sum(1, keepdim=True).sqrt())

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> dict[str, Tensor]:
        states = self.words(input_ids)
        return {"hidden_states": states, "logits": self.logits(input_ids, attention_mask)}


class OneAtATime(MeanOfWords):
    """A hard-wired batch size, as traced models have; arguments in another order."""

    def forward(self, attention_mask: Tensor, input_ids: Tensor) -> tuple[Tensor]:
        return (self.logits(input_ids, attention_mask).view(1, 2),)


class OneLength(MeanOfWords):
    """A hard-wired length, as traced models have."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        return self.logits(input_ids.view(-1, 6), attention_mask)


class FourArguments(MeanOfWords):
    def forward(self, a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> Tensor:
        return self.logits(a, b) + c.sum() + d.sum()


class ThreeLabels(MeanOfWords):
    def __init__(self) -> None:
        super().__init__()
        self.classifier = nn.Linear(SIZE, 3)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        return self.logits(input_ids, attention_mask)


class Endless(MeanOfWords):
    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        rounds = 0
        while rounds >= 0:
            rounds += 1
        return self.logits(input_ids, attention_mask) + rounds


class ReadsFile(MeanOfWords):
    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        data = torch.from_file("/etc/hostname", size=1, dtype=torch.uint8)
        return self.logits(input_ids, attention_mask) + data.to(torch.float32)


def traced_bert() -> torch.jit.ScriptModule:
    """As the documentation of transformers traces a model, with token types."""
    torch.manual_seed(5)
    config = transformers.BertConfig(
        vocab_size=VOCABULARY_SIZE,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=POSITION_LIMIT,
        num_labels=2,
        return_dict=False,
        initializer_range=0.5,
        attn_implementation="eager",
    )
    model = transformers.BertForSequenceClassification(config).eval()
    ids = torch.randint(5, VOCABULARY_SIZE, (2, 9))
    return torch.jit.trace(model, (ids, torch.ones_like(ids), torch.zeros_like(ids)))


def scripted(module: type[MeanOfWords]) -> torch.jit.ScriptModule:
    torch.manual_seed(3)
    model = module().eval()
    with torch.no_grad():
        model.classifier.bias.zero_()
    return torch.jit.script(model)


GOOD = {
    "torchscript-dict": lambda: scripted(MeanOfWords),
    "torchscript-one-at-a-time": lambda: scripted(OneAtATime),
    "torchscript-traced-bert": traced_bert,
}
BAD = {
    "one-length": OneLength,
    "four-arguments": FourArguments,
    "three-labels": ThreeLabels,
    "reads-file": ReadsFile,
    "endless": Endless,
}


def make(name: str, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    settings = {"model_max_length": 36} if name == "torchscript-dict" else {}
    tiny_tokenizers.save_bert_vocab_txt(directory, VOCABULARY_SIZE, **settings)
    config = {
        "model_type": name,
        "id2label": LABELS,
        "max_position_embeddings": POSITION_LIMIT,
    }
    text = json.dumps(config, indent=2) + "\n"
    (directory / "config.json").write_text(text, encoding="utf-8")
    write(GOOD[name](), directory / FILE)


def make_bad(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name, module in BAD.items():
        write(scripted(module), directory / f"{name}.pt")


def write(module: torch.jit.ScriptModule, path: Path) -> None:
    torch.jit.save(module, path)
    drop_debug_records(path)


def answers(directory: Path, tokenizer, texts: list[str], limit: int) -> list[dict]:
    """Of torch, one text at a time."""
    answer_to = answer(directory / FILE)
    rows = []
    for text in texts:
        encoded = tokenizer(text, return_tensors="pt", truncation=True, max_length=limit)
        rows.append(
            {
                "text": text,
                "input_ids": encoded["input_ids"][0].tolist(),
                "truncated": len(tokenizer(text)["input_ids"]) > encoded["input_ids"].shape[1],
                **answer_to(encoded),
            }
        )
    return rows


def answer(path: Path):
    """Label and score as the pipeline rates two labels."""
    model = torch.jit.load(path).eval()
    names = [argument.name for argument in model.forward.schema.arguments[1:]]

    def answer_to(encoded: dict, _texts: dict | None = None) -> dict:
        with torch.inference_mode():
            output = model(*(encoded[name] for name in names))
        logits = output["logits"] if isinstance(output, dict) else output
        logits = (logits[0] if isinstance(logits, tuple) else logits)[0]
        scores = logits.softmax(0).tolist()
        top = max(range(len(scores)), key=scores.__getitem__)
        return {
            "logits": [float(value) for value in logits.tolist()],
            "label": LABELS[str(top)],
            "score": scores[top],
        }

    return answer_to
