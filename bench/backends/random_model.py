"""An embedding model of the shape of BERT base with mean pooling and random weights.

Usage: python random_model.py TOKENIZER_DIR OUT_DIR
"""

import sys

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
from transformers import AutoTokenizer, BertConfig, BertModel

if __name__ == "__main__":
    tokenizer, target = AutoTokenizer.from_pretrained(sys.argv[1], model_max_length=512), sys.argv[2]
    torch.manual_seed(1)
    config = BertConfig(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id)
    BertModel(config).save_pretrained(target)
    tokenizer.save_pretrained(target)
    parts = [Transformer(target, max_seq_length=512), Pooling(config.hidden_size), Normalize()]
    SentenceTransformer(modules=parts, device="cpu").save(target)
