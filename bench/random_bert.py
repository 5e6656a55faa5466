"""A BERT classifier of base size (110 million parameters, float32) with random weights, which cost what
trained ones do; its tokenizer is that of another model.

    python bench/random_bert.py models/sentiment build/bench/bert-base
    npm run bench -- --model build/bench/bert-base --peers fastapi --clients 1,64
"""

import argparse

import torch
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("tokenizer", help="folder of a model with a BERT tokenizer")
parser.add_argument("output", help="folder to write")
arguments = parser.parse_args()

torch.manual_seed(1)
tokenizer = AutoTokenizer.from_pretrained(arguments.tokenizer)
# What the constructor gives is BERT base; the rest is the tokenizer's.
config = BertConfig(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id, num_labels=2)
BertForSequenceClassification(config).save_pretrained(arguments.output)
tokenizer.save_pretrained(arguments.output)
