"""The number of tokens of each text, special tokens included, cut to the model's limit.

Usage: python count_tokens.py MODEL_DIR LIMIT < texts.json    (a JSON array of strings; prints one of numbers)
"""

import json
import sys

from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
encoded = tokenizer(json.load(sys.stdin), truncation=True, max_length=int(sys.argv[2]))
print(json.dumps([len(ids) for ids in encoded["input_ids"]]))
