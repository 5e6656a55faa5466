"""Tiny static embeddings with the answers of sentence-transformers and model2vec.

    pip install -r test/parity/requirements.txt model2vec==0.10.0
    python test/parity/static_golden.py  # test/fixtures/embeddings/static
"""

import json
import shutil
from pathlib import Path

import numpy
import tiny_tokenizers
import torch
from common import FIXTURES, set_up, versions, write_json
from model2vec import StaticModel
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from texts import TEXTS
from tokenizers import Tokenizer

SIZE, VOCABULARY = 12, 420
ROOT = FIXTURES / "embeddings" / "static"
# Longer than what model2vec reads of a text with LIMIT.
LONG = "The film is a quiet marvel, and its second half is better. " * 30
LIMIT = 16


def tokenizer(save, truncation: int | None = None) -> Tokenizer:
    folder = ROOT / ".tokenizer"
    save(folder, VOCABULARY)
    made = Tokenizer.from_file(str(folder / "tokenizer.json"))
    shutil.rmtree(folder)
    made.no_padding()
    made.no_truncation()
    if truncation is not None:
        made.enable_truncation(truncation)
    return made


def noise(*shape: int, seed: int) -> numpy.ndarray:
    return numpy.random.default_rng(seed).standard_normal(shape).astype(numpy.float32)


def write(folder: Path, encode) -> None:
    texts = [*(text for _, text in TEXTS), LONG]
    rows = [{"values": [float(str(value)) for value in numpy.float32(encode(text))]} for text in texts]
    write_json(folder / "golden.json", {"versions": versions(), "long": LONG}, "answers", rows)
    print(folder.name, len(rows))


def sentence(name: str, tokens: Tokenizer, *modules, dtype=torch.float32, **settings) -> None:
    folder = ROOT / name
    table = torch.from_numpy(noise(tokens.get_vocab_size(), SIZE, seed=len(name))).to(dtype)
    model = SentenceTransformer(modules=[StaticEmbedding(tokens, embedding_weights=table), *modules], **settings)
    model.save(str(folder), create_model_card=False)
    loaded = SentenceTransformer(str(folder), device="cpu").float()
    write(folder, lambda text: loaded.encode(text))


def model2vec(name: str, tokens: Tokenizer, vectors: numpy.ndarray, **settings) -> None:
    folder = ROOT / name
    StaticModel(vectors, tokens, **settings).save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)
    loaded = StaticModel.from_pretrained(folder)
    if vectors.dtype in (numpy.float16, numpy.float64):  # computed in float32 here
        loaded.embedding = loaded.embedding.astype(numpy.float32)
    write(folder, lambda text: loaded.encode(text))


def main() -> None:
    set_up()
    shutil.rmtree(ROOT, ignore_errors=True)
    ROOT.mkdir(parents=True)
    word_piece, unigram = tiny_tokenizers.save_bert, tiny_tokenizers.save_xlm_roberta
    sentence("sentence-transformers", tokenizer(word_piece))
    sentence("sentence-transformers-truncated-float16", tokenizer(unigram, truncation=9), Normalize(), dtype=torch.float16)
    torch.manual_seed(1)
    dense = Dense(SIZE, 6)
    sentence("sentence-transformers-dense", tokenizer(word_piece), dense, Normalize(), truncate_dim=4)
    tokens = tokenizer(word_piece)
    count = tokens.get_vocab_size()
    model2vec("model2vec-float16", tokens, noise(count, SIZE, seed=1).astype(numpy.float16), normalize=True)
    model2vec("model2vec-limit", tokenizer(unigram), noise(VOCABULARY, SIZE, seed=2), max_length=LIMIT)
    integers = (noise(count, SIZE, seed=3) * 40).clip(-127, 127).astype(numpy.int8)
    model2vec("model2vec-int8", tokenizer(word_piece), integers, normalize=True)
    rows = 50
    mapping = numpy.random.default_rng(4).integers(0, rows, count)
    weights = numpy.abs(noise(count, seed=5))
    quantized = {"token_mapping": mapping, "weights": weights, "normalize": True}
    model2vec("model2vec-quantized-vocabulary", tokenizer(word_piece), noise(rows, SIZE, seed=6), **quantized)


if __name__ == "__main__":
    main()
