"""A GLiNER model of the shape of gliner_small-v2.1 (DeBERTa-v3-small, 512, spans of 12 words) with random weights, and
its ONNX file for the package's own runtime.

    python bench/entities/random_gliner.py models/sentiment build/bench/shapes/gliner-small

The tokenizer is that of another model.
"""

import json
import shutil
import sys
from pathlib import Path

import torch
from gliner import GLiNER
from gliner.config import GLiNERConfig
from transformers import AutoTokenizer

ENCODER = {
    "model_type": "deberta-v2",
    "hidden_size": 768,
    "num_hidden_layers": 6,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "max_position_embeddings": 512,
    "type_vocab_size": 0,
    "relative_attention": True,
    "position_buckets": 256,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
}


def main() -> None:
    tokenizer_folder, output = sys.argv[1], Path(sys.argv[2])
    source = output.with_suffix(".source")
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    tokenizer.model_max_length = 1024
    tokenizer.save_pretrained(source)
    config = GLiNERConfig(
        model_name=str(source),
        encoder_config={"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id, **ENCODER},
        max_len=512,
    )
    torch.manual_seed(1)
    model = GLiNER.from_config(config, backbone_from_pretrained=False).eval()
    with torch.no_grad():
        # Random labels and spans are alike: without this all scores were 0.5.
        model.model.prompt_rep_layer[3].weight.mul_(20)
    model.save_pretrained(str(output), safe_serialization=True)
    shutil.rmtree(source)
    path = output / "gliner_config.json"
    saved = json.loads(path.read_text())
    saved["model_name"] = str(output)
    path.write_text(json.dumps(saved))
    GLiNER.from_pretrained(str(output), local_files_only=True).export_to_onnx(str(output))


if __name__ == "__main__":
    main()
