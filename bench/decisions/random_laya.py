"""A Laya model of the shape of the English checkpoint (ModernBERT-large) with random weights.

    python bench/decisions/random_laya.py models/sentiment build/bench/shapes/laya-large

The tokenizer is that of another model.
"""

import json
import sys
from pathlib import Path

import torch
from laya.common import DecisionModel
from safetensors.torch import save_file
from transformers import AutoModel, AutoTokenizer, ModernBertConfig


def main() -> None:
    tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
    output = Path(sys.argv[2])
    tokenizer.model_max_length = 1024
    tokenizer.save_pretrained(output / "tokenizer")
    config = ModernBertConfig(
        vocab_size=len(tokenizer),
        hidden_size=1024,
        num_hidden_layers=28,
        num_attention_heads=16,
        intermediate_size=2624,
        pad_token_id=tokenizer.pad_token_id,
        cls_token_id=tokenizer.cls_token_id,
        sep_token_id=tokenizer.sep_token_id,
        bos_token_id=tokenizer.cls_token_id,
        eos_token_id=tokenizer.sep_token_id,
    )
    config.save_pretrained(output / "encoder")
    torch.manual_seed(1)
    model = DecisionModel(AutoModel.from_config(config), 2, 1)
    save_file({key: value.contiguous() for key, value in model.state_dict().items()}, output / "model.safetensors")
    settings = {"encoder": "random", "option_layout": "sequential", "head_layers": 2, "max_len": 1024, "head_max_len": 192}
    (output / "rl_agent_config.json").write_text(json.dumps({**settings, "act_costs": {}}))


if __name__ == "__main__":
    main()
