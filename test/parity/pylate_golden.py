"""Tiny models of late interaction as PyLate saves them, with its answers for queries and documents.

PyLate needs other versions of its libraries than the rest: an environment of its own.

    pip install pylate==1.6.0
    python test/parity/pylate_golden.py  # test/fixtures/embeddings/late-interaction/pylate*
"""

import json
import shutil
import string
import tempfile
from importlib.metadata import version
from pathlib import Path

import tiny_models
import tiny_tokenizers
import torch
import transformers
from pylate import models
from sentence_transformers.models import Transformer
from texts import TEXTS
from tiny_specs import Spec

FOLDER = Path(__file__).resolve().parent.parent / "fixtures" / "embeddings" / "late-interaction"
INDICES = [0, 5, 7, 13, 18, 27, 34, 40, 42, 45]
LIBRARIES = ("pylate", "sentence-transformers", "transformers", "tokenizers", "torch")
# A tokenizer that puts text into lower case, and one that does not.
MODELS = [
    ("pylate", Spec("bert", "Bert", tiny_tokenizers.save_bert, 1, 1),
     {"query_length": 16, "document_length": 30}),
    ("pylate-attended", Spec("roberta", "Roberta", tiny_tokenizers.save_roberta, 1, 5),
     {"query_length": 12, "document_length": 20, "attend_to_expansion_tokens": True, "skiplist_words": ["."]}),
    ("pylate-unfilled", Spec("bert", "Bert", tiny_tokenizers.save_bert, 1, 2),
     {"query_length": 10, "document_length": 24, "do_query_expansion": False, "query_prefix": "[unused0]",
      "document_prefix": "[unused1]"}),
]


def make(name: str, spec: Spec, settings: dict) -> None:
    directory = FOLDER / name
    shutil.rmtree(directory, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        size = spec.tokenizer(Path(folder), tiny_models.VOCABULARY_SIZE, model_max_length=tiny_models.POSITION_LIMIT)
        config = tiny_models.configuration(spec, size)
        encoder = getattr(transformers, f"{spec.architecture}Model")(config).eval()
        tiny_models.randomize(encoder, spec.seed)
        encoder.save_pretrained(folder)
        torch.manual_seed(spec.seed)
        # PyLate takes a word that the vocabulary lacks for the unknown token, MultiVectorEncoder for none.
        known = transformers.AutoTokenizer.from_pretrained(folder).get_vocab()
        words = [word for word in settings.get("skiplist_words", string.punctuation) if word in known]
        settings = {**settings, "skiplist_words": words}
        model = models.ColBERT(modules=[Transformer(folder)], embedding_size=8, device="cpu", **settings)
        model.save_pretrained(str(directory), create_model_card=False)
    tiny_models.compact(directory / "tokenizer.json")
    model = models.ColBERT(str(directory), device="cpu")
    rows = []
    for role in ("query", "document"):
        for index in INDICES:
            vectors = model.encode([TEXTS[index][1]], is_query=role == "query", convert_to_numpy=False)[0]
            values = [float(str(value)) for value in vectors.float().flatten().numpy()]
            rows.append({"text": index, "role": role, "tokens": len(vectors), "values": values})
    lines = ",\n".join(f"    {json.dumps(row)}" for row in rows)
    head = json.dumps({library: version(library) for library in LIBRARIES})
    (directory / "golden.json").write_text(f'{{\n  "versions": {head},\n  "answers": [\n{lines}\n  ]\n}}\n')
    print(f"{name}: {[row['tokens'] for row in rows]}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for one in MODELS:
        make(*one)
