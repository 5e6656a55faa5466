"""Tokenizer directories without tokenizer.json, as releases before it or beside it wrote them; the
SentencePiece models are trained on the text of texts.py."""

import contextlib
import io
import json
import tempfile
from pathlib import Path

import sentencepiece
from texts import TRAINING_TEXT
from tiny_tokenizers import word_piece_vocabulary, write, write_object

# Instead of the built-in rules, which fill 240 KB: expansion, deletion, white space, several to one.
NORMALIZATION = """
FF01\t21
FF21\t41
FF22\t42
FB01\t66 69
2122\t54 4D
BD\t31 20 32
AD\t
200B\t20
A0\t20
3000\t20
9\t20
65 301\tE9
2026\t2E 2E 2E
"""

ALBERT = {"pad_id": 0, "unk_id": 1, "bos_id": 2, "eos_id": 3, "pad_piece": "<pad>", "bos_piece": "[CLS]",
          "eos_piece": "[SEP]", "control_symbols": ["[MASK]"], "user_defined_symbols": ["(", ")", "-", "…"]}
DEBERTA = {"pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3, "pad_piece": "[PAD]", "bos_piece": "[CLS]",
           "eos_piece": "[SEP]", "unk_piece": "[UNK]"}
DEFAULTS = {"unk_id": 0, "bos_id": 1, "eos_id": 2, "pad_id": -1}


def train(path: Path, size: int, model_type: str = "unigram", **options) -> None:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TRAINING_TEXT.strip().splitlines()),
        model_writer=model,
        vocab_size=size,
        model_type=model_type,
        hard_vocab_limit=False,
        character_coverage=1.0,
        num_threads=1,
        minloglevel=2,
        **options,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.getvalue())


def make(folder: Path) -> None:
    """One directory for each kind."""
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch, "rules.tsv").write_text(NORMALIZATION.lstrip(), encoding="utf-8")
        # A model keeps the path of its rules: a relative one is the same everywhere.
        with contextlib.chdir(scratch):
            make_all(folder, {"normalization_rule_tsv": "rules.tsv"}, {"normalization_rule_name": "identity"})


def make_all(folder: Path, rules: dict, identity: dict) -> None:
    train(folder / "albert" / "spiece.model", 260, **ALBERT, **rules)
    describe(folder / "albert", "albert", {"model_max_length": 64})
    train(folder / "albert-cased" / "spiece.model", 200, **ALBERT, **identity)
    describe(folder / "albert-cased", "albert", {
        "do_lower_case": False, "keep_accents": True, "remove_space": True, "truncation_side": "left",
        "model_max_length": 24, "additional_special_tokens": ["[User]"], "tokenizer_class": "AlbertTokenizer",
        "mask_token": {"__type": "AddedToken", "content": "[MASK]", "lstrip": True, "rstrip": False,
                       "normalized": False, "single_word": False}})
    train(folder / "xlm-roberta" / "sentencepiece.bpe.model", 240, **DEFAULTS, **rules)
    describe(folder / "xlm-roberta", "xlm-roberta", {"model_max_length": 512})
    train(folder / "camembert" / "sentencepiece.bpe.model", 220, **DEFAULTS, **identity)
    describe(folder / "camembert", "camembert", {"tokenizer_class": "CamembertTokenizer"})
    train(folder / "deberta-v2" / "spm.model", 240, **DEBERTA, **identity)
    describe(folder / "deberta-v2", "deberta-v2", {"tokenizer_class": "DebertaV2Tokenizer", "split_by_punct": True})
    write_object(folder / "deberta-v2" / "added_tokens.json", {"[MASK]": 240})
    train(folder / "deberta-v2-bpe" / "spm.model", 240, "bpe", **DEBERTA, **rules)
    describe(folder / "deberta-v2-bpe", "deberta-v2", {"do_lower_case": True, "model_max_length": 1e30})
    train(folder / "bpe-with-bytes" / "tokenizer.model", 480, "bpe", byte_fallback=True, **DEFAULTS, **identity)
    describe(folder / "bpe-with-bytes", "modernbert", {
        "tokenizer_class": "PreTrainedTokenizerFast", "add_bos_token": True, "add_eos_token": True,
        "model_max_length": 128})
    make_word_pieces(folder)


def make_word_pieces(folder: Path) -> None:
    vocabulary = list(word_piece_vocabulary(300, True))
    lines = "".join(f"{token}\n" for token in vocabulary)
    mpnet = dict(zip(["[PAD]", "[CLS]", "[SEP]", "[MASK]"], ["<pad>", "<s>", "</s>", "<mask>"]))
    write(folder / "mpnet" / "vocab.txt", "".join(f"{mpnet.get(token, token)}\n" for token in vocabulary))
    describe(folder / "mpnet", "mpnet", {"model_max_length": 32})
    write(folder / "electra" / "vocab.txt", lines)
    describe(folder / "electra", "electra", {
        "do_lower_case": False, "strip_accents": True, "tokenize_chinese_chars": False, "truncation_side": "left",
        "model_max_length": 40, "tokenizer_class": "ElectraTokenizerFast"})
    write_object(folder / "electra" / "added_tokens.json", {"<new>": 300, "good film": 301})
    write_object(folder / "electra" / "special_tokens_map.json",
                 {"additional_special_tokens": ["<new>"], "sep_token": {
                     "content": "[SEP]", "lstrip": False, "rstrip": True, "normalized": False, "single_word": False}})


def describe(directory: Path, model_type: str, settings: dict) -> None:
    config = {"model_type": model_type}
    (directory / "config.json").write_text(json.dumps(config) + "\n", encoding="utf-8")
    write_object(directory / "tokenizer_config.json", settings)
