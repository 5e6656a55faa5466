"""Tiny tokenizers of each kind, made from one fixed text, saved in the forms that real model
directories have."""

import json
import math
from collections import Counter
from pathlib import Path

from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from texts import TRAINING_TEXT
from transformers import (
    AlbertTokenizer,
    BertTokenizer,
    CamembertTokenizer,
    DebertaV2Tokenizer,
    PreTrainedTokenizerFast,
    RobertaTokenizer,
    XLMRobertaTokenizer,
)

BERT_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA_TOKENS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def word_piece_vocabulary(size: int, lowercase: bool) -> dict[str, int]:
    """Every character, at the start of a word and inside, then the most frequent starts and ends of
    words. (The library's own trainer breaks ties by hash order: another result in each run.)"""
    normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    words = pre_tokenizers.BertPreTokenizer().pre_tokenize_str(normalizer.normalize_str(TRAINING_TEXT))
    counts = Counter()
    for word, _ in words:
        for cut in range(2, len(word) + 1):
            counts[word[:cut]] += cut
            counts["##" + word[len(word) - cut + 1 :]] += cut - 1
    characters = sorted({character for word, _ in words for character in word})
    inside = ["##" + character for character in characters]
    frequent = [piece for piece in by_count(counts) if piece not in inside]
    tokens = [*BERT_TOKENS, *characters, *inside, *frequent][:size]
    return {token: index for index, token in enumerate(tokens)}


def byte_pair_model(size: int) -> tuple[dict[str, int], list[tuple[str, str]]]:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=ROBERTA_TOKENS,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator([TRAINING_TEXT], trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return by_id(tokenizer), [tuple(merge) for merge in merges]


def unigram_vocabulary(size: int, special: list[str]) -> list[tuple[str, float]]:
    """Every character, then the most frequent parts of words, with the logarithm of their share.
    (No trainer, for the reason given above.)"""
    counts = Counter()
    for word in TRAINING_TEXT.split():
        word = "▁" + word
        for start in range(len(word)):
            for end in range(start + 1, min(start + 9, len(word) + 1)):
                counts[word[start:end]] += 1
    weighted = Counter({piece: count * len(piece) for piece, count in counts.items()})
    single = sorted(piece for piece in counts if len(piece) == 1)
    longer = [piece for piece in by_count(weighted) if len(piece) > 1]
    pieces = [*single, *longer][: size - len(special)]
    total = sum(counts[piece] for piece in pieces)
    scores = [(piece, round(math.log(counts[piece] / total), 4)) for piece in pieces]
    return [*((token, 0.0) for token in special), *scores]


def by_count(counts: Counter) -> list[str]:
    return sorted(counts, key=lambda piece: (-counts[piece], piece))


def by_id(tokenizer: Tokenizer) -> dict[str, int]:
    return dict(sorted(tokenizer.get_vocab().items(), key=lambda item: item[1]))


def save_bert(directory: Path, size: int, **settings) -> int:
    vocabulary = word_piece_vocabulary(size, settings.get("do_lower_case", True))
    BertTokenizer(vocab=vocabulary, **settings).save_pretrained(directory)
    return len(vocabulary)


def save_bert_vocab_txt(directory: Path, size: int, **settings) -> int:
    """As releases before tokenizer.json wrote it."""
    vocabulary = word_piece_vocabulary(size, settings.get("do_lower_case", True))
    write(directory / "vocab.txt", "".join(f"{token}\n" for token in vocabulary))
    names = dict(zip(["pad", "unk", "cls", "sep", "mask"], BERT_TOKENS))
    tokens = {f"{name}_token": token for name, token in names.items()}
    write_object(directory / "special_tokens_map.json", tokens)
    write_object(
        directory / "tokenizer_config.json",
        {"tokenizer_class": "BertTokenizer", **tokens, **settings},
    )
    return len(vocabulary)


def save_roberta(directory: Path, size: int, **settings) -> int:
    vocabulary, merges = byte_pair_model(size)
    tokenizer = RobertaTokenizer(vocab=vocabulary, merges=merges, **settings)
    tokenizer.save_pretrained(directory)
    return len(vocabulary)


def save_roberta_vocab_json(directory: Path, size: int, **settings) -> int:
    """As releases before tokenizer.json wrote it."""
    vocabulary, merges = byte_pair_model(size)
    write_object(directory / "vocab.json", vocabulary)
    lines = "".join(f"{left} {right}\n" for left, right in merges)
    write(directory / "merges.txt", "#version: 0.2\n" + lines)
    tokens = {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "sep_token": "</s>",
        "pad_token": "<pad>",
        "cls_token": "<s>",
        "mask_token": {
            "content": "<mask>",
            "single_word": False,
            "lstrip": True,
            "rstrip": False,
            "normalized": False,
        },
    }
    write_object(directory / "special_tokens_map.json", tokens)
    write_object(
        directory / "tokenizer_config.json",
        {"tokenizer_class": "RobertaTokenizer", **settings},
    )
    return len(vocabulary)


def save_xlm_roberta(directory: Path, size: int, **settings) -> int:
    vocabulary = unigram_vocabulary(size - 1, ROBERTA_TOKENS[:4])
    vocabulary.append(("<mask>", 0.0))
    XLMRobertaTokenizer(vocab=vocabulary, **settings).save_pretrained(directory)
    return len(vocabulary)


def save_camembert(directory: Path, size: int, **settings) -> int:
    special = ["<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED", "<s>", "</s>"]
    vocabulary = unigram_vocabulary(size - 1, special)
    vocabulary.append(("<mask>", 0.0))
    CamembertTokenizer(vocab=vocabulary, **settings).save_pretrained(directory)
    return len(vocabulary)


def save_albert(directory: Path, size: int, **settings) -> int:
    vocabulary = unigram_vocabulary(size, ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"])
    AlbertTokenizer(vocab=vocabulary, **settings).save_pretrained(directory)
    return len(vocabulary)


def save_deberta_v2(directory: Path, size: int, **settings) -> int:
    vocabulary = unigram_vocabulary(size - 1, ["[PAD]", "[CLS]", "[SEP]", "[UNK]"])
    vocabulary.append(("[MASK]", 0.0))
    DebertaV2Tokenizer(vocab=vocabulary, **settings).save_pretrained(directory)
    return len(vocabulary)


def save_modernbert(directory: Path, size: int, **settings) -> int:
    """A byte-level BPE with BERT's names of special tokens."""
    vocabulary, merges = byte_pair_model(size - len(BERT_TOKENS))
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.add_special_tokens(BERT_TOKENS)
    ids = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=ids
    )
    names = dict(zip(["pad", "unk", "cls", "sep", "mask"], BERT_TOKENS))
    tokens = {f"{name}_token": token for name, token in names.items()}
    saved = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **tokens, **settings)
    saved.save_pretrained(directory)
    return tokenizer.get_vocab_size()


def save_gpt2(directory: Path, size: int, **settings) -> int:
    """A byte-level BPE that adds no special token."""
    return save_byte_level(directory, size, "$A", **settings)


def save_llama(directory: Path, size: int, **settings) -> int:
    """A byte-level BPE, as Llama's since its third: one token before the text."""
    return save_byte_level(directory, size, "<s> $A", **settings)


# Source: tiktoken, tiktoken_ext/openai_public.py (o200k_base).
O200K_WORDS = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)


def save_o200k(directory: Path, size: int, **settings) -> int:
    """A byte-level BPE that adds no special token and whose offsets include white space, like o200k."""
    vocabulary, merges = byte_pair_model(size)
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(O200K_WORDS), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(ROBERTA_TOKENS)
    names = {"eos_token": "</s>", "pad_token": "</s>"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names, **settings).save_pretrained(directory)
    return tokenizer.get_vocab_size()


def save_t5(directory: Path, size: int, **settings) -> int:
    return save_unigram(directory, size, "$A </s>", **settings)


def save_xlnet(directory: Path, size: int, **settings) -> int:
    """What the model answers from is at the end, and padding before the text."""
    extra = {"cls_token": "<cls>", "sep_token": "<sep>", "padding_side": "left"}
    return save_unigram(directory, size, "$A <sep> <cls>", **{**extra, **settings})


def save_unigram(directory: Path, size: int, template: str, **settings) -> int:
    special = [*ROBERTA_TOKENS[:4], "<cls>", "<sep>"]
    vocabulary = unigram_vocabulary(size, special)
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=3, byte_fallback=False))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.add_special_tokens(special)
    return save_with_template(tokenizer, template, directory, **settings)


def save_byte_level(directory: Path, size: int, template: str, **settings) -> int:
    vocabulary, merges = byte_pair_model(size)
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.add_special_tokens(ROBERTA_TOKENS)
    return save_with_template(tokenizer, template, directory, **settings)


def save_with_template(tokenizer: Tokenizer, template: str, directory: Path, **settings) -> int:
    """Pairs follow one another, each as a text alone but for what precedes the first."""
    added = [(token, tokenizer.token_to_id(token)) for token in template.split() if token != "$A"]
    if added:
        second = template.partition("$A")[2]
        tokenizer.post_processor = processors.TemplateProcessing(
            single=template, pair=f"{template} $B:0{second}", special_tokens=added
        )
    names = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    saved = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **{**names, **settings})
    saved.save_pretrained(directory)
    return tokenizer.get_vocab_size()


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_object(path: Path, value: dict) -> None:
    write(path, json.dumps(value, ensure_ascii=False, indent=1) + "\n")
