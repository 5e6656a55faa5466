"""An embedding model of the shape of Qwen3-Embedding-0.6B with random weights, which cost what trained ones do.

Usage: python decoder_embedder.py TEXTS_FILE OUT_DIR

TEXTS_FILE: JSON list of texts, from which its byte-level BPE tokenizer learns. Further entries of the vocabulary are
never used: they make the table of embeddings as large as that of the published model.
"""

import json
import sys
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3Model

VOCABULARY = 151_669
END = "<|endoftext|>"
# Of Qwen2 and later.
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
SHAPE = {
    **{"hidden_size": 1024, "num_hidden_layers": 28, "intermediate_size": 3072, "head_dim": 128},
    **{"num_attention_heads": 16, "num_key_value_heads": 8, "max_position_embeddings": 32_768},
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e6},
}


def trained_tokenizer(texts: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    split = pre_tokenizers.Split(Regex(PATTERN), "isolated")
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, level])
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - 1, initial_alphabet=level.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    # The rest of the vocabulary.
    content = json.loads(tokenizer.to_str())
    vocabulary = content["model"]["vocab"]
    vocabulary |= {f"<unused {index}>": index for index in range(len(vocabulary), VOCABULARY - 1)}
    tokenizer = Tokenizer.from_str(json.dumps(content))
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([END])
    end = (END, tokenizer.token_to_id(END))
    tokenizer.post_processor = processors.TemplateProcessing(single=f"$A {END}", special_tokens=[end])
    return tokenizer


if __name__ == "__main__":
    texts, target = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    torch.manual_seed(1)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=trained_tokenizer(texts), eos_token=END, pad_token=END, padding_side="left"
    )
    end = tokenizer.eos_token_id
    config = Qwen3Config(vocab_size=VOCABULARY, **SHAPE, eos_token_id=end, pad_token_id=end, bos_token_id=end)
    Qwen3Model(config).save_pretrained(target)
    tokenizer.save_pretrained(target)
    parts = [Transformer(str(target), max_seq_length=8192), Pooling(SHAPE["hidden_size"], "lasttoken"), Normalize()]
    SentenceTransformer(modules=parts, device="cpu").save(str(target))
